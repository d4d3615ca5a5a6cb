#pragma once
// Rule sets × meshes × paths of one model on one machine, side by side.
#include <planner/compare/compare_answer.hpp>

namespace shardplan {

/// Every case with each of its rule sets and paths. Throws InputError where the machine has no slice of that size, and
/// where no case has any configuration to show.
CompareAnswer compare(const CompareRequest& request);

/// Two rule sets on one request: the best of each, and what each changed line of the first is worth alone on the first's
/// best run. `request` has one machine; its rule sets don't count.
CompareAnswer compare_rules(const CompareRequest& request, const LinedRules& first, const LinedRules& second);

/// Two runs, in their order, with the arguments in which they differ.
CompareAnswer compare_runs(ComparedRow first, ComparedRow second);

/// A run's arguments, where its configuration was kept.
ComparedRow compared_row(std::string name, std::vector<std::string> settings, Evaluation evaluation);

}  // namespace shardplan
