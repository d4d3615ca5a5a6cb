#pragma once
// What `shardplan compare` is asked and what it answers: configurations side by side, fastest first.
#include <planner/compare/rule_difference.hpp>
#include <optional>
#include <shardplan/evaluation.hpp>
#include <shardplan/plan.hpp>
#include <string>
#include <utility>
#include <vector>

namespace shardplan {

/// One question of the comparison: a mesh, or the values of varied settings; its machines, rule sets and paths are compared
/// too.
struct CompareCase {
  std::vector<std::string> settings;  ///< that tell it from the others: "shard_mode=explicit"
  PlanRequest plan;
};

struct CompareRequest {
  std::vector<CompareCase> cases;
  int top = 2;  ///< meshes of each case, machine, rule set and path
  bool varies_batch = false;  ///< the cases' settings say the sequences of a device,
  bool varies_remat = false;  ///< and what is saved for the backward pass
};

/// MaxText's arguments by key.
using RunArguments = std::vector<std::pair<std::string, std::string>>;

struct ComparedRow {
  std::string name;                   ///< of the file that it comes from; "" where the search found it
  std::vector<std::string> settings;  ///< of its case
  Evaluation evaluation;
  RunArguments arguments;
  std::optional<double> dollars_per_million_tokens;  ///< where rows are ranked by it
};

/// A case, rule set and path without any configuration to show.
struct RefusedCase {
  std::string hardware;
  std::vector<std::string> settings;
  std::string rules;
  MoePath path = MoePath::none;
  std::string mesh;  ///< as asked; "" where it was searched
  std::string reason;
  bool is_infeasible = false;  ///< Refusal's
};

/// What a comparison is of.
struct ComparedSubject {
  std::string model, hardware;  ///< of several machines the first
  int chips = 0;
};

/// A setting in which two configurations differ; "" where one has it not and MaxText's default isn't one value.
struct ChangedArgument {
  std::string key, first, second;
};

struct CompareAnswer {
  /// Those that fit, then those that may, then those that don't; each fastest first, or cheapest.
  std::vector<ComparedRow> rows;
  std::vector<RefusedCase> refused;
  ComparedSubject asked;  ///< of a search
  bool varies_batch = false, varies_remat = false;  ///< CompareRequest's
  Objective objective = Objective::throughput;      ///< of a search
  std::optional<RuleDifference> rules;             ///< of two rule files
  std::optional<std::vector<ChangedArgument>> changed;  ///< of two runs; their rows keep the order they were given in
};

}  // namespace shardplan
