#include <algorithm>
#include <cost_models/layouts/optimizer_layout.hpp>
#include <cost_models/memory/gradient_memory.hpp>
#include <cost_models/memory/state/least_memory.hpp>
#include <cost_models/memory/state/static_memory.hpp>

namespace shardplan {
namespace {

/// Of a gradient, as stack_gradients has it on a compiler that narrows whatever it may.
std::int64_t least_gradient_bytes(const Block& block, const TrainConfig& config) {
  const bool stacked = config.scan_layers || block.in_pipeline;
  if (!stacked || block.own_backward) return size_of(config.dtype);
  const std::int64_t added = size_of(accumulation_dtype(config));
  return block.in_pipeline ? added : std::min(added, size_of(config.grad_dtype));
}

/// Of one number of a parameter: what is kept of it between steps, and its gradient.
std::int64_t least_bytes(const Block& block, TensorId id, const TrainConfig& config) {
  const Tensor& parameter = block.tensors[id];
  const std::int64_t moments = config.optimizer_memory_host_offload ? 0 : moment_bytes(parameter, block, config);
  const std::int64_t state = size_of(kept_dtype(parameter, config)) + moments;
  if (block.kind != BlockKind::layer || !is_trained(parameter) || has_wide_rows(block, id)) return state;
  return state + least_gradient_bytes(block, config);
}

template <class BytesOf>
Bytes sum_over_parameters(const Block& block, BytesOf bytes_of) {
  Bytes total;
  for (std::size_t i = 0; i < block.tensors.size(); ++i)
    if (block.tensors[i].parameter && !block.tensors[i].shared) total += Bytes{bytes_of(static_cast<TensorId>(i))};
  return total;
}

}  // namespace

Bytes least_memory(const Program& program, const TrainConfig& config) {
  Bytes total;
  for (const Block& block : program.blocks)
    total += sum_over_parameters(block, [&](TensorId id) {
               return elements_of(block.tensors[id]) * least_bytes(block, id, config);
             }) * block.layers;
  return total;
}

Bytes least_memory(const BoundProgram& program, const TrainConfig& config) {
  const PipelineShape& pipeline = program.program->pipeline;
  Bytes total;
  for (const BoundBlock& bound : program.blocks) {
    const Block& block = *bound.block;
    total += sum_over_parameters(block, [&](TensorId id) -> std::int64_t {
               const Tensor& weight = block.tensors[id];
               const auto& spec = bound.specs[id];
               if (!spec) return 0;
               const std::int64_t shards = optimizer_layout(weight, *spec, block, pipeline, *program.mesh, config).shards;
               return local_elements(weight.dims, *spec, *program.mesh) / shards * least_bytes(block, id, config);
             }) * layers_on_device(block, pipeline);
  }
  return total;
}

}  // namespace shardplan
