#pragma once
// Memory under flags that only the seconds of a run assume: its command sets them.
#include <optional>
#include <shardplan/configuration.hpp>
#include <shardplan/evaluation.hpp>

namespace shardplan {

/// What it needs under the flags of the recipes where it was given none (flagged_memory.hpp), if that differs.
std::optional<Finding> memory_under_flags(const Configuration& configuration);

}  // namespace shardplan
