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

/// Where a weight's gradient is summed to: the optimizer's layout, unless a loop comes between (pipelines and gradient
/// accumulation sum in the weight's own layout) or shard_mode=explicit fixes the gradient's type (all recorded).
PartitionSpec gradient_spec(const Tensor& weight, const PartitionSpec& spec, const Block& block,
                            const BoundProgram& program, const TrainConfig& config);

/// The dtype in which ZeRO-1 gathers weights. train_compile's program gathers updated ones. The training loop gathers at
/// the start of the step: for gradient accumulation after a cast; NNX keeps what it gathers for the update, so as
/// stored; Linen keeps the shards for that, and XLA:TPU casts what moves.
DType gathered_dtype(const Mesh& mesh, const TrainConfig& config, const Compiler& compiler);

/// Whether the update reads weights in their own layout, beside moments in the optimizer's: NNX has written what was
/// gathered for the step into its state, and train_compile's program never splits weights. Linen's training loop and
/// (inferred) gradient accumulation, which gathers a narrower copy, have the shards.
bool updates_gathered_weights(const TrainConfig& config);

/// What the loss computes with and its gradients accumulate in: ZeRO-1 casts to the compute dtype before the loop of
/// gradient accumulation.
DType accumulation_dtype(const Mesh& mesh, const TrainConfig& config);

}  // namespace shardplan
