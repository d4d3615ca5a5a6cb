#pragma once
// Products with the masks that dispatch tokens to experts and combine what these make, on the dropping path.
#include <cost_models/partition/block_state.hpp>

namespace shardplan {

/// [experts, batch, capacity, …]
bool is_expert_rows(const Tensor& tensor);

bool is_mask(const Tensor& tensor);

bool is_combine(const BlockState& state, const Operation& op);

/// [batch, sequence, experts]
bool is_router(const BlockState& state, const Operation& op);

/// The router's product of the block, as masks in slices read its logits.
PartitionSpec natural_logits(const BlockState& state);

/// A dispatch that reads its mask whole gathers what was made in slices.
void gather_dispatch_mask(BlockState& state, const Operation& op, Pass pass);

/// Where products are laid out by size the gradient of a mask in slices of experts is exchanged for slices of tokens, of
/// which the routing's is made (recorded on 7x: five programs under four rule sets).
void exchange_mask_gradient(BlockState& state, const Operation& op);

/// Made of the rows as they lie, and gathered (recorded on v6e: qwen330ba3bx4_v6e4_expert4_dm_cpasep_save_qkv_proj).
void gather_mask_gradient(BlockState& state, const Operation& op, const PartitionSpec& result_gradient);

}  // namespace shardplan
