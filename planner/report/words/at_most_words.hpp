#pragma once
// The mark on figures of runs whose steps lack a part that isn't known on their machine: lacks_bias_gradients().
#include <planner/compare/compare_answer.hpp>
#include <shardplan/evaluation.hpp>
#include <shardplan/plan.hpp>
#include <string>
#include <vector>

namespace shardplan {

/// "12,345", tokens a second with the routing of all tokens; "< 12,345" of a run that is slower by what isn't known.
std::string print_rate(const Evaluation& evaluation);
/// The same of one of its chips.
std::string print_rate_per_chip(const Evaluation& evaluation);

/// What the mark says: "at most: the time that gradients of experts' biases take on mi355x is not known, and left out"; ""
/// of none.
std::string at_most_words(const std::vector<std::string>& machines);
/// Of a plan's machines, some of whose steps may lack it and others' not; "" where none does. Likewise of compared runs.
std::string at_most_words(const PlanAnswer& answer);
std::string at_most_words(const CompareAnswer& answer);

}  // namespace shardplan
