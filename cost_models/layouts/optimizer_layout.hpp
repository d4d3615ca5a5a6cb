#pragma once
// Where the optimizer keeps each weight. Without ZeRO-1 that is the weight's own layout; under
// shard_optimizer_over_data (SHARDING.md 3.4) the first dim whose shard the data axis divides, and that tensor doesn't
// split, gets `data` before its axes (MaxText utils/sharding.py, add_data_to_sharding). A pipeline's stack offers its
// repeats dim first, a scanned layer's stack the layers' dim second (param_scan_axis=1), which no spec here shows.
#include <cost_models/layouts/layout.hpp>
#include <cost_models/layouts/stacked_layers.hpp>
#include <optional>
#include <shardplan/bound_program.hpp>
#include <shardplan/compiler/compiler.hpp>

namespace shardplan {

/// The axis over which ZeRO-1 splits the optimizer; empty when it is off or there is one data shard.
std::optional<AxisId> zero1_axis(const Mesh& mesh, const TrainConfig& config);

struct OptimizerLayout {
  PartitionSpec spec;       ///< the weight's spec, with data where it shows: not on a dim of the stack
  std::int64_t shards = 1;  ///< parts into which data splits the weight's shard
  AxisList joined;          ///< the axes that data now precedes on its dim; empty when it has the dim for itself
};

/// Of a weight of `block` whose own layout is `spec`.
OptimizerLayout optimizer_layout(const Tensor& weight, const PartitionSpec& spec, const Block& block,
                                 const PipelineShape& pipeline, const Mesh& mesh, const TrainConfig& config);

/// Whether the layer constrains the sharding of `weight`, one of its own, where it reads it, and so the gradient's: experts
/// on the dropping path. On the sparse paths they enter a shard_map.
bool is_constrained(const Tensor& weight, const Block& block, const TrainConfig& config);
bool enters_shard_map(const Tensor& weight, const Block& block, const TrainConfig& config);

/// Where a weight's gradient is summed to: the optimizer's layout, unless a loop comes between (pipelines and gradient
/// accumulation sum in the weight's own layout), the layer constrains the weight and data joins other axes
/// (mx8x3_v6e8_zero1_dp2_ep4_loop; on a dim of its own it is scattered to, mx8x3_v5p16_zero1_dp2_ep8_loop) or
/// shard_mode=explicit fixes the gradient's type (all recorded).
PartitionSpec gradient_spec(const Tensor& weight, const PartitionSpec& spec, const Block& block,
                            const BoundProgram& program, const TrainConfig& config);

/// The dtype in which ZeRO-1 gathers weights. train_compile's program gathers updated ones. The training loop gathers at
/// the start of the step: for gradient accumulation after a cast; NNX keeps what it gathers for the update, so as
/// stored; Linen keeps the shards for that, and XLA:TPU casts what moves. So it does under NNX where layouts pass a
/// constraint to what reads them (lays_out_products_by_size): the update takes the shards, which are a slice of what was
/// gathered, unless they lie in another order (7x: ll8x4_7x8_zero1_dp4_fsdp4_loop, out and wo against wi_0).
DType gathered_dtype(const OptimizerLayout& layout, const TrainConfig& config, const Compiler& compiler);

/// Whether the update reads weights in their own layout, beside moments in the optimizer's: the training loop under NNX has
/// written what it gathered for the step into its state. Linen's has the shards (inferred), as it has where gradients
/// accumulate and a narrower copy is gathered (ll7x4_v5p8_zero1_dp2_fsdp4_loop_ga2); train_compile's program brings the
/// update to the weight (ll7x4_v5p8_zero1_dp2_fsdp4).
bool updates_gathered_weights(const TrainConfig& config);

/// What the loss computes with and its gradients accumulate in: before the loop of gradient accumulation
/// shard_optimizer_over_data casts float32 weights to bfloat16, whether or not data has devices to split anything over
/// (MaxText utils/gradient_accumulation.py, convert_to_bf16).
DType accumulation_dtype(const TrainConfig& config);

}  // namespace shardplan
