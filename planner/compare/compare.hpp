#pragma once
// Rule sets × meshes × paths of one model, side by side, on one machine or several.
#include <planner/compare/compare_answer.hpp>

namespace shardplan {

/// Every case with each of its machines, rule sets and paths. Throws InputError where no case has any configuration to show:
/// a machine without a slice of that size, rules without the axes of the mesh.
CompareAnswer compare(const CompareRequest& request);

/// Two rule sets on one request: the best of each, and what each changed line of the first is worth alone on the first's
/// best run. The rule sets of `request` don't count.
CompareAnswer compare_rules(const CompareRequest& request, const LinedRules& first, const LinedRules& second);

/// Two runs, in their order, with the arguments in which they differ.
CompareAnswer compare_runs(ComparedRow first, ComparedRow second);

/// A run's arguments, where its configuration was kept.
ComparedRow compared_row(std::string name, std::vector<std::string> settings, Evaluation evaluation);

}  // namespace shardplan
