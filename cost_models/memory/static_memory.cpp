#include <cost_models/memory/static_memory.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

/// The head of a tied model names the embedding table again.
bool is_shared(const Tensor& tensor, const Block& block, const Program& program) {
  return program.tied_embedding && block.kind == BlockKind::head && tensor.name == "token_embedder/embedding";
}

template <class BytesOfTensor>
Bytes sum_over_parameters(const PartitionedBlock& block, const BoundProgram& program, BytesOfTensor bytes_of) {
  Bytes total;
  for (std::size_t i = 0; i < block.specs.size(); ++i) {
    const Tensor& tensor = block.block->tensors[i];
    if (!tensor.parameter || is_shared(tensor, *block.block, *program.program)) continue;
    total += bytes_of(tensor, local_elements(tensor.dims, block.specs[i], *program.mesh));
  }
  return total * layers_on_device(*block.block, program.program->pipeline);
}

/// muon keeps two moments for what it leaves to adamw: embedding, head, scales and biases (SHARDING.md 3.3).
std::int64_t moments_of_muon(const Tensor& tensor, const Block& block, const TrainConfig& config) {
  const bool matrix = tensor.dims.size() >= 2 && block.kind == BlockKind::layer;
  return matrix ? size_of(config.mu_dtype) : size_of(config.mu_dtype) + size_of(config.weight_dtype);
}

std::int64_t moment_bytes(const Tensor& tensor, const Block& block, const TrainConfig& config) {
  switch (config.opt_type) {
    case OptimizerType::adamw:
      return size_of(config.mu_dtype) + size_of(config.weight_dtype);
    case OptimizerType::adam_pax:
      return 2 * size_of(config.weight_dtype);
    case OptimizerType::sgd:
      return 0;
    case OptimizerType::muon:
      return moments_of_muon(tensor, block, config);
  }
  throw InternalError("unknown OptimizerType");
}

}  // namespace

std::int64_t layers_on_device(const Block& block, const PipelineShape& pipeline) {
  return block.in_pipeline ? (block.layers + pipeline.stages - 1) / pipeline.stages : block.layers;
}

Bytes parameter_bytes(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config) {
  return sum_over_parameters(block, program, [&](const Tensor&, std::int64_t elements) {
    return Bytes{elements * size_of(config.weight_dtype)};
  });
}

Bytes optimizer_bytes(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config) {
  if (config.optimizer_memory_host_offload) return {};
  const std::int64_t shards = config.shard_optimizer_over_data ? program.mesh->size_of("data") : 1;
  const Bytes whole = sum_over_parameters(block, program, [&](const Tensor& tensor, std::int64_t elements) {
    return Bytes{elements * moment_bytes(tensor, *block.block, config)};
  });
  return Bytes{whole.value / shards};
}

Bytes batch_bytes(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program, const TrainConfig& config) {
  const PartitionedBlock& embedding = blocks.front();
  const TensorId ids = embedding.block->input;
  const Bytes one = local_bytes(embedding.block->tensors[ids], embedding.specs[ids], *program.mesh);
  return one * (5 * config.gradient_accumulation_steps);
}

}  // namespace shardplan
