#include <algorithm>
#include <cost_models/layouts/stacked_layers.hpp>
#include <cost_models/memory/gradient_memory.hpp>
#include <cost_models/memory/state/moved_stack.hpp>
#include <cost_models/memory/state/static_memory.hpp>

namespace shardplan {
namespace {

bool has_moved_stack(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config,
                     const Compiler& compiler) {
  return block.block->in_pipeline && moves_layer_stack(program.program->pipeline, config) &&
         compiler.has(Habit::moves_shifted_layer_stacks);
}

Bytes on_repeats(Bytes bytes, const BoundProgram& program) {
  return {elements_on_repeats(bytes.value, program.program->pipeline)};
}

}  // namespace

Bytes gradients_for_norm(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config,
                         const Compiler& compiler) {
  const Bytes waiting = waiting_gradients(block, program, config, compiler);
  return has_moved_stack(block, program, config, compiler) ? on_repeats(waiting, program) : waiting;
}

Bytes moments_in_flight(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                        const TrainConfig& config, const Compiler& compiler) {
  if (!compiler.has(Habit::returns_moment_updates) || config.shard_optimizer_over_data) return {};
  std::int64_t largest = 0;
  for (const auto& block : blocks) {
    if (!has_moved_stack(block, program, config, compiler)) continue;
    const std::int64_t layers = layers_on_device(*block.block, program.program->pipeline);
    for (std::size_t i = 0; i < block.specs().size(); ++i) {
      const Tensor& weight = block.block->tensors[i];
      if (!weight.parameter) continue;
      const int moments = moment_count(weight, *block.block, config);
      largest = std::max(largest, local_elements(weight.dims, block.specs()[i], *program.mesh) * layers * moments);
    }
  }
  return on_repeats(Bytes{largest * size_of(config.weight_dtype)}, program);
}

}  // namespace shardplan
