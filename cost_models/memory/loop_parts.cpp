#include <cost_models/memory/gradient_memory.hpp>
#include <cost_models/memory/host_traffic.hpp>
#include <cost_models/memory/loop_parts.hpp>
#include <cost_models/memory/saved_value.hpp>
#include <cost_models/memory/stacked_weights.hpp>

namespace shardplan {
namespace {

/// XLA:TPU peels the backward loop of layers that read from the host: what its first iteration reads never leaves the
/// device, and waits there until it runs. Of loops inside an iteration (gemma4, ten of five layers each) it peels each.
Bytes peeled_values(const Loop& loop, const BoundProgram& program, const Compiler& compiler) {
  if (!compiler.has(Habit::peels_offloading_loops)) return {};
  Bytes values;
  for (const PartitionedBlock* block : loop) {
    const Block& b = *block->block;
    if (block->liveness.sent_late) continue;  // no loop
    const std::int64_t peeled_layers = b.own_loop ? b.layers / b.layers_per_cycle : b.layers_per_cycle;
    values += offloaded_in_one_run(*block, *program.mesh) * peeled_layers;
  }
  return values;
}

/// Weight gradients of layers that no whole cycle of the scan holds.
Bytes left_behind_scan(const Loop& loop, const BoundProgram& program, const TrainConfig& config, const Compiler& compiler) {
  if (!compiler.has(Habit::leaves_gradients_behind_scans)) return {};
  if (!config.scan_layers || loop.front()->block->kind != BlockKind::layer) return {};
  Bytes all;
  for (const PartitionedBlock* block : loop) all += gradients_behind_scan(*block, whole_cycles(loop), program, compiler);
  return all;
}

/// Their weight gradients where a slice all-reduces them.
Bytes whole_behind_scan(const Loop& loop, const BoundProgram& program, const TrainConfig& config, const Compiler& compiler) {
  if (!config.scan_layers || loop.front()->block->kind != BlockKind::layer) return {};
  Bytes all;
  for (const PartitionedBlock* block : loop)
    all += whole_gradients_behind_scan(*block, whole_cycles(loop), program, compiler);
  return all;
}

/// No loop parts their two forward runs: what their gradients read waits from the first one, over the loss
/// (gemma34b_v5p8_fsdp8_saveqkv, four of 34 layers: projections of the feed-forward, attention, what both branches add and
/// the sums, 2.9 GB; the last layer's projections run again).
Bytes merged_behind_scan(const Loop& loop, const Mesh& mesh, const TrainConfig& config, const Compiler& compiler) {
  if (!compiler.has(Habit::merges_single_layer_scan)) return {};
  if (!config.scan_layers || loop.front()->block->kind != BlockKind::layer) return {};
  Bytes all;
  for (const PartitionedBlock* block : loop)
    if (const std::int64_t left = layers_behind_scan(*block->block, whole_cycles(loop)); left > 0)
      all += merged_values(*block, mesh) * left;
  return all;
}

}  // namespace

LoopParts loop_parts(const Loop& loop, const BoundProgram& program, const TrainConfig& config, const Compiler& compiler) {
  LoopParts parts;
  for (const PartitionedBlock* block : loop) {
    parts.waiting += saved_activations(*block, program) + kept_lookup_mask(*block, program, compiler);
    parts.copies += stacked_weight_copies(*block, program, config, compiler);
  }
  parts.peeled = peeled_values(loop, program, compiler);
  parts.merged = merged_behind_scan(loop, *program.mesh, config, compiler);
  parts.whole = whole_behind_scan(loop, program, config, compiler);
  parts.behind = left_behind_scan(loop, program, config, compiler);
  return parts;
}

}  // namespace shardplan
