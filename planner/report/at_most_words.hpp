#pragma once
// The mark on figures of runs whose steps lack a part that isn't known on their machine: lacks_bias_gradients().
#include <shardplan/evaluation.hpp>
#include <shardplan/plan.hpp>
#include <string>
#include <vector>

namespace shardplan {

/// "12,345", tokens a second with the routing of all tokens; "< 12,345" of a run that is slower by what isn't known.
std::string print_rate(const Evaluation& evaluation);

/// What the mark says: "at most: the time that gradients of experts' biases take on mi355x is not known, and left out".
std::string at_most_words(const std::vector<std::string>& machines);
/// Of a plan's machines, some of whose steps may lack it and others' not; "" where none does.
std::string at_most_words(const PlanAnswer& answer);

}  // namespace shardplan
