#pragma once
// Which findings count: those of an earlier check and those that are ignored by name don't.
#include <planner/check/check_answer.hpp>
#include <string>
#include <vector>

namespace shardplan {

/// A finding of an earlier check.
struct KnownFinding {
  std::string id;  ///< as published
  Severity severity = Severity::note;
  std::vector<Rule> rules;
  std::vector<std::string> models, meshes;  ///< that it was found on; empty: it was about the rules alone
};

/// An earlier check: what it found, and what it looked at.
struct Baseline {
  std::vector<KnownFinding> findings;
  std::vector<std::string> models, meshes;

  /// Whether it has this finding: of the same id and rules, as grave, on every model and mesh that it looked at too.
  bool has(const CheckedFinding& checked) const;
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

/// Sets each finding's standing, and what makes the answer a regression.
void judge(CheckAnswer& answer, const CheckPolicy& policy);

/// "ID" or "ID:PLACE". Throws InputError on an id that no finding has.
IgnoredFinding parse_ignored(const std::string& text);

}  // namespace shardplan
