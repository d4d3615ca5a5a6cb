#pragma once
// The rows that experts compute on, on the paths without padding. Private to this room.
#include <cost_models/partition/block_state.hpp>

namespace shardplan {

/// Rows [experts, rows, embed]: experts over the expert axes, rows over whatever else splits tokens.
PartitionSpec expert_rows_spec(const BlockState& state, const Operation& dispatch);

}  // namespace shardplan
