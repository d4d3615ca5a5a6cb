#pragma once
// The mesh axis that splits the sequence, as MaxText finds it. Private to this room.
#include <shardplan/configuration.hpp>
#include <string>

namespace shardplan {

/// The first axis of rule activation_length, which MaxText takes for context_sharding (configs/types.py,
/// infer_cp_axes).
std::string sequence_axis(const RuleSet& rules);

/// Its size; 1 where the mesh has no such axis.
int sequence_shards(const Configuration& configuration);

}  // namespace shardplan
