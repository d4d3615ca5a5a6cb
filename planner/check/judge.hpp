#pragma once
// Which findings count: those of an earlier check and those that are ignored by name don't.
#include <planner/check/check_answer.hpp>
#include <string>
#include <vector>

namespace shardplan {

/// Where an earlier check looked, or found something: names as it wrote them.
struct Places {
  std::vector<std::string> models, meshes, paths;
};

/// A finding of an earlier check.
struct KnownFinding {
  std::string id;  ///< as published
  Severity severity = Severity::note;
  std::vector<Rule> rules;
  Places places;  ///< that it was found on; none: it was about the rules alone
};

/// An earlier check: what it found, and what it looked at.
struct Baseline {
  std::vector<KnownFinding> findings;
  Places looked_at;
  std::string hardware;
  std::vector<std::string> arguments;
  std::vector<CheckedCase> costed;  ///< none: of a version that didn't write them
  /// Of a version before findings of other rules were entries of their own: an entry has the rules of the place where
  /// it cost most then, and stands for all of its id as long as one of them is about these.
  bool has_rules_of_worst_place = false;

  /// Whether it has this finding of an answer: of the same id and rules, as grave, on every model, mesh and path that it
  /// looked at too. Which place is the worst one doesn't matter.
  bool has(const CheckedFinding& checked, const CheckAnswer& answer) const;
};

/// "expert-axis-stolen" everywhere, or "expert-axis-stolen:mixtral-8x7b" where the place is a logical axis of one of its
/// rules, or the only model or mesh that it is found on.
struct IgnoredFinding {
  std::string id, place;

  bool matches(const CheckedFinding& checked) const;
};

struct CheckPolicy {
  std::optional<Baseline> baseline;
  std::vector<IgnoredFinding> ignored;
  Severity fail_on = Severity::error;
};

/// The place as the answer writes it: models by any name of theirs, a mesh in any order. Throws InputError where it is no
/// logical axis, no model and no mesh.
IgnoredFinding placed(IgnoredFinding ignored, const CheckAnswer& answer);

/// Sets each finding's standing, and what makes the answer a regression; adds what became slower or impossible
/// (worse_cases.hpp). Throws InputError on a place that is none (placed).
void judge(CheckAnswer& answer, CheckPolicy policy);

/// "ID" or "ID:PLACE". Throws InputError on an id that no finding has.
IgnoredFinding parse_ignored(const std::string& text);

}  // namespace shardplan
