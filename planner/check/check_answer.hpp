#pragma once
// What `check` has to say about a rule set: findings, each with where it bites, the rules behind it and what it costs.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <shardplan/evaluation.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

/// One rule as it stands in the set that was checked. Line 0: it is not there (a model's own rule, a pipeline's edit).
struct RulePlace {
  Rule rule;
  int line = 0;
};

/// What is checked: a model on a mesh.
struct CheckedPlace {
  std::string model, mesh;        ///< as printed
  MoePath path = MoePath::none;  ///< none: a dense model
  bool operator==(const CheckedPlace&) const = default;
};
std::string describe(const CheckedPlace& place);  ///< "mixtral-8x7b on expert=8, dropping path"

/// The configurations that have a finding: by model, by mesh, by path through a mixture-of-experts layer.
struct Bites {
  std::vector<std::string> models, meshes;  ///< in the order of checking, each once
  std::vector<MoePath> paths;               ///< without those of dense models
  std::int64_t cases = 0;                   ///< 0: the finding is about the rules alone

  void add(const CheckedPlace& place);
  bool has(const CheckedPlace& place) const;
};

/// Whether a finding makes a check fail.
enum class Standing : std::uint8_t {
  counts,
  known,    ///< an earlier check has it
  ignored,  ///< by name
};
std::string_view name_of(Standing standing);  ///< "new", "known", "ignored"

struct CheckedFinding {
  Finding finding;    ///< as it stands where it costs most
  std::string worst;  ///< "mixtral-8x7b on expert=8, dropping path"; empty for the rules alone
  std::vector<RulePlace> rules;
  Bites bites;
  Standing standing = Standing::counts;
};

/// A configuration as it is, whatever was found: a later check compares with it.
struct CheckedCase {
  CheckedPlace place;
  std::int64_t tokens = 0;  ///< of a step on all devices
  Seconds step{};           ///< with the routing of all tokens
  Bytes moved{};            ///< by the collectives of a device in a step
};

/// One that a sweep leaves out; without a mesh all of the model's.
struct LeftOutCase {
  CheckedPlace place;
  std::string why;
};

/// What a sweep put a model on: meshes of these axes, those of its rules.
struct SweptModel {
  std::string model;
  std::vector<std::string> mesh_axes;
};

struct CheckAnswer {
  std::string rules;  ///< name, or path as given
  bool rules_are_file = false;
  bool is_of_program = false;  ///< what `audit` found in a program, in this form: no baseline of rules
  std::string hardware;
  std::vector<std::string> models, meshes;  ///< that were checked
  std::vector<MoePath> paths;               ///< likewise; none where all models are dense
  std::int64_t cases = 0;
  std::vector<std::string> arguments;  ///< KEY=VALUE beside rules and model, sorted
  std::vector<CheckedCase> costed;     ///< all of them
  std::vector<LeftOutCase> left_out;
  std::vector<SweptModel> swept;         ///< none where one mesh is asked for
  std::string not_compared;              ///< why not with the steps of a baseline; "" where they are, or there is none
  std::vector<CheckedFinding> findings;  ///< errors first, then the costliest
  std::optional<Evaluation> found;       ///< a single configuration, or the one with the worst finding
  std::optional<Evaluation> expected;    ///< the same with the fixes; empty where nothing is to be fixed

  Severity fail_on = Severity::error;    ///< the least grave finding that makes the check fail

  bool is_regression() const {
    return std::any_of(findings.begin(), findings.end(), [&](const CheckedFinding& f) {
      return f.standing == Standing::counts && f.finding.severity >= fail_on;
    });
  }
};

}  // namespace shardplan
