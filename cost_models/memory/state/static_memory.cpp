#include <algorithm>
#include <cost_models/memory/state/static_memory.hpp>
#include <cost_models/step/muon_matrix.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
DType kept_dtype(const Tensor& parameter, const TrainConfig& config) {
  return parameter.kept_as.value_or(config.weight_dtype);
}

int moment_count(const Tensor& tensor, const Block& block, const TrainConfig& config) {
  if (tensor.role == TensorRole::untrained) return 0;
  switch (config.opt_type) {
    case OptimizerType::adamw:
    case OptimizerType::adam_pax:
      return 2;
    case OptimizerType::sgd:
      return 0;
    case OptimizerType::muon:  // leaves embedding, head, scales and biases to adamw (SHARDING.md 3.3)
      return is_muon_matrix(tensor, block) ? 1 : 2;
  }
  throw InternalError("unknown OptimizerType");
}

std::int64_t moment_bytes(const Tensor& tensor, const Block& block, const TrainConfig& config) {
  const int moments = moment_count(tensor, block, config);
  if (moments == 0) return 0;
  const std::int64_t later = size_of(kept_dtype(tensor, config));
  const std::int64_t first = config.opt_type == OptimizerType::adam_pax ? later : size_of(config.mu_dtype);
  return first + (moments - 1) * later;
}

std::int64_t optimizer_shards(const PartitionedBlock& block, std::size_t i, const BoundProgram& program,
                              const TrainConfig& config) {
  if (!zero1_axis(*program.mesh, config)) return 1;
  return optimizer_layout(block.block->tensors[i], block.specs()[i], *block.block, program.program->pipeline,
                          *program.mesh, config)
      .shards;
}

Bytes whole_parameter_bytes(const PartitionedBlock& block, const BoundProgram& program, DType dtype) {
  return sum_over_parameters(block, program,
                             [&](std::size_t, std::int64_t elements) { return Bytes{elements * size_of(dtype)}; });
}

Bytes parameter_bytes(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config) {
  return sum_over_parameters(block, program, [&](std::size_t i, std::int64_t elements) {
    const std::int64_t shards = config.program == StepProgram::train ? optimizer_shards(block, i, program, config) : 1;
    return Bytes{elements / shards * size_of(kept_dtype(block.block->tensors[i], config))};
  });
}

Bytes optimizer_bytes(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config) {
  return config.optimizer_memory_host_offload ? Bytes{0} : optimizer_state_bytes(block, program, config);
}

Bytes optimizer_state_bytes(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config) {
  return sum_over_parameters(block, program, [&](std::size_t i, std::int64_t elements) {
    return Bytes{elements / optimizer_shards(block, i, program, config) *
                 moment_bytes(block.block->tensors[i], *block.block, config)};
  });
}

Bytes history_bytes(const PartitionedBlock& block, const BoundProgram& program) {
  constexpr std::int64_t of_a_product = 3 * (amax_history_length + 1);
  const auto& operations = block.block->operations;
  const std::int64_t products = std::count_if(operations.begin(), operations.end(), [](const Operation& op) {
    return op.narrow && op.narrow->weight_scaling == Scaling::delayed;
  });
  return Bytes{products * of_a_product * size_of(DType::f32) *
               layers_on_device(*block.block, program.program->pipeline)};
}

Bytes batch_bytes(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program, const TrainConfig& config) {
  const PartitionedBlock& embedding = blocks.front();
  const TensorId ids = embedding.block->input;
  const Bytes one = local_bytes(embedding.block->tensors[ids], embedding.specs()[ids], *program.mesh);
  return one * (5 * config.gradient_accumulation_steps);
}

}  // namespace shardplan
