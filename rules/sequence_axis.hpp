#pragma once
// The mesh axis that splits the sequence, as MaxText finds it.
#include <shardplan/mesh/sharding.hpp>
#include <string_view>

namespace shardplan {

/// The first axis of rule activation_length: context_sharding, which MaxText takes from a set that it ships (configs/
/// types.py, infer_cp_axes) and which has to be said of any other.
std::string_view sequence_axis(const RuleSet& rules);

}  // namespace shardplan
