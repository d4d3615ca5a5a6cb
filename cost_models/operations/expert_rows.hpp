#pragma once
// The rows that experts compute on, on the paths without padding. Private to this room.
#include <cost_models/partition/block_state.hpp>

namespace shardplan {

/// Rows [experts, rows, embed]: experts over the expert axes, rows over whatever else splits tokens.
PartitionSpec expert_rows_spec(const BlockState& state, const Operation& dispatch);

/// Tokens as they enter the experts' shard_map: gathered for it, unless a router has read them so.
void gather_tokens(BlockState& state, const Operation& dispatch, Pass pass);

/// Tokens enter MaxText's shard_map of the experts whole along the axes that split their features there, and come as rows
/// in any order: what the rows' gradient is still to be summed over is summed where the tokens entered (JAX's shard_map
/// transposes an input that an axis does not split into a psum over it).
void settle_expert_rows(BlockState& state, const Operation& dispatch);

}  // namespace shardplan
