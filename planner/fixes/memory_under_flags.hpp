#pragma once
// Memory under flags that only the seconds of a run assume: its command sets them.
#include <optional>
#include <shardplan/configuration.hpp>
#include <shardplan/evaluation.hpp>

namespace shardplan {

/// Where a run was given no flags and its program writes other buffers under those of the recipes (XLA:GPU's library
/// products): what it then needs. Nothing where that is within a hundredth.
std::optional<Finding> memory_under_flags(const Configuration& configuration, const RunCost& now);

}  // namespace shardplan
