#pragma once
// What the compiler's flags are worth to one run: its step with each of them and without.
#include <shardplan/configuration.hpp>
#include <shardplan/evaluation.hpp>
#include <vector>

namespace shardplan {

/// Every flag that is given and modelled, but for one without which another program would be counted
/// (Habit::multiplies_in_rings); and of those that the compiler's file offers, what isn't given and would
/// spare at least one percent of the step. Each alone beside the given ones.
std::vector<FlagWorth> weigh_flags(const Configuration& configuration, const RunCost& now);

/// A step of the configuration compiled with these flags and no others.
Seconds step_under(Configuration configuration, std::vector<CompilerFlag> flags);

}  // namespace shardplan
