#include <models/programs/weight_schedule.hpp>
#include <shardplan/error.hpp>
#include <shardplan/rounding.hpp>

namespace shardplan {
namespace {

/// Weights follow the body, with three exceptions: those outside the layer scan are gathered once for each step of
/// gradient accumulation, before the loop of vocabulary tiles (with vocab_tiling_ag_once they stay, and their gradient is
/// summed once behind it, Gradients::is_held_whole), or in each tile (Habit::gathers_for_each_tile);
/// pipeline_fsdp_ag_once gathers a stage's weights once a step and reduces their gradients once;
/// pipeline_fsdp_ag_per_repeat once a repeat (SHARDING.md 2.6, 3.1). XLA moves an all-reduce of what a pipeline's
/// iterations add up behind the last (recorded for data, with and without fsdp, whose reduce-scatters stay). In explicit
/// mode a pipeline's weights are always gathered once and their gradients always summed in every iteration (recorded, of
/// MaxText e591f30cb repaired so that it traces). Where the backward pass is written by hand it begins with the weights
/// that the forward pass ended with.
WeightSchedule weight_schedule(const Block& block, const PipelineShape& pipeline, const TrainConfig& config,
                               const HabitSet& habits) {
  const bool tiled = block.kind == BlockKind::head && config.num_vocab_tiling > 1;
  if (tiled && config.holds_head_over_tiles()) return {1, 0, 1, 1};
  if (tiled && habits.has(Habit::gathers_for_each_tile))
    return {block.executions, block.executions, block.executions, block.executions};
  if (block.kind != BlockKind::layer) {
    const std::int64_t steps = block.executions / (tiled && block.rematerialized ? config.num_vocab_tiling : 1);
    return {steps, steps, block.executions, block.executions};
  }
  const std::int64_t on_stage =
      divided_up(block.layers, pipeline.stages) * config.gradient_accumulation_steps;
  if (block.in_pipeline && config.shard_mode_explicit && !config.pipeline_fsdp_ag_per_repeat)
    return {on_stage, 0, block.executions, block.executions};
  if (block.in_pipeline && config.pipeline_fsdp_ag_once) return {on_stage, 0, on_stage, on_stage};
  if (block.in_pipeline && config.pipeline_fsdp_ag_per_repeat) return {on_stage, on_stage, on_stage, on_stage};
  const std::int64_t each = block.executions;
  if (block.own_backward) return {each, each - config.gradient_accumulation_steps, each, each};
  return {each, each, each, block.in_pipeline ? on_stage : each};
}

/// Nothing flows back.
void forget_gradients(Block& block) {
  block.weights.backward_gathers = block.weights.reductions = block.weights.whole_reductions = 0;
}

}  // namespace

void schedule_weights(Program& program, const TrainConfig& config, const HabitSet& habits) {
  for (auto& block : program.blocks) {
    block.weights = weight_schedule(block, program.pipeline, config, habits);
    if (!habits.has(Habit::reduces_after_pipeline)) block.weights.whole_reductions = block.weights.reductions;
  }
  switch (program.step) {
    case StepKind::train:
      return;
    case StepKind::forward:
      for (auto& block : program.blocks) forget_gradients(block);
      return;
  }
  throw InternalError("unknown StepKind");
}

}  // namespace shardplan
