#pragma once
// How the weights of routed experts are stored and what a shard_map takes of them (MaxText layers/moe.py: kernel axes,
// get_routed_moe_shardings, moe_fsdp_use_two_stage_all_gather).
#include <models/programs/block_builder.hpp>

namespace shardplan {

/// wi_0 and wi_1 are [experts, embed, mlp], wo is [experts, mlp, embed].
enum class ExpertMatrix : std::uint8_t { input, output };

/// Logical axes that the weight is stored by.
LogicalAxes stored_axes(const Model& model, ExpertMatrix matrix, const TrainConfig& config);

/// The weight, stored by stored_axes; `embed` is the width of what experts read.
TensorId add_expert_weight(BlockBuilder& b, const std::string& name, ExpertMatrix matrix, TensorDim embed);

/// The same as the sparse path's shard_map takes it: without fsdp, in two stages where
/// moe_fsdp_use_two_stage_all_gather is set.
TensorId as_shard_map_input(BlockBuilder& b, TensorId weight, const std::string& name, ExpertMatrix matrix);

}  // namespace shardplan
