#include <algorithm>
#include <cost_models/memory/optimizer_memory.hpp>
#include <cost_models/memory/static_memory.hpp>
#include <cost_models/step/muon_matrix.hpp>
#include <cost_models/layouts/optimizer_layout.hpp>

namespace shardplan {
namespace {

/// All matrices are orthogonalized together: each one's shard in float32 and in the dtype that moves, if that is another;
/// of the largest, what its step gathers.
Bytes newton_schulz_matrices(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                             const TrainConfig& config, const Compiler& compiler) {
  const DType moved = newton_schulz_dtype(config, compiler);
  const std::int64_t copies = size_of(DType::f32) + (moved == DType::f32 ? 0 : size_of(moved));
  Bytes shards, gathered;
  for (const auto& block : blocks)
    for (std::size_t i = 0; i < block.specs.size(); ++i) {
      const Tensor& weight = block.block->tensors[i];
      if (!weight.parameter || !is_muon_matrix(weight, *block.block)) continue;
      const std::int64_t layers = layers_on_device(*block.block, program.program->pipeline);
      const std::int64_t elements = local_elements(weight.dims, block.specs[i], *program.mesh) * layers;
      const Bytes own{elements * copies};
      shards = compiler.has(Habit::orthogonalizes_matrices_together) ? shards + own : std::max(shards, own);
      const MuonMatrix matrix = muon_matrix(weight, block.specs[i], *program.mesh);
      if (matrix.kept_axes.empty()) continue;
      const std::int64_t whole = layers * matrix.batch * matrix.kept * (matrix.contracted + matrix.kept);
      gathered = std::max(gathered, Bytes{whole * size_of(moved)});
    }
  return shards + gathered;
}

}  // namespace

Bytes updates_in_flight(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                        const TrainConfig& config, const Compiler& compiler) {
  if (config.opt_type == OptimizerType::muon) return newton_schulz_matrices(blocks, program, config, compiler);
  if (!zero1_axis(*program.mesh, config)) return {};
  Bytes whole, shards;
  for (const auto& block : blocks) {
    whole += whole_parameter_bytes(block, program, config.weight_dtype);
    for (std::size_t i = 0; i < block.specs.size(); ++i) {
      const Tensor& weight = block.block->tensors[i];
      if (!weight.parameter) continue;
      const Bytes stack{local_elements(weight.dims, block.specs[i], *program.mesh) *
                        layers_on_device(*block.block, program.program->pipeline) * size_of(config.weight_dtype)};
      shards += Bytes{stack.value / optimizer_shards(block, i, program, config)};
    }
  }
  if (config.program == StepProgram::train) return shards + gathered_parameters(blocks, program, config, compiler);
  return whole + shards;
}

Bytes gathered_parameters(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                          const TrainConfig& config, const Compiler& compiler) {
  if (!zero1_axis(*program.mesh, config)) return {};
  const auto whole = [&](DType dtype) {
    Bytes total;
    for (const auto& block : blocks) total += whole_parameter_bytes(block, program, dtype);
    return total;
  };
  const bool ahead = config.program == StepProgram::train_compile;
  const Bytes copy = ahead ? whole(config.weight_dtype) : Bytes{0};
  if (config.gradient_accumulation_steps > 1) return copy + whole(accumulation_dtype(*program.mesh, config));
  const bool as_stored = gathered_dtype(*program.mesh, config, compiler) == config.weight_dtype;
  return ahead || !as_stored ? copy : whole(config.weight_dtype);
}

}  // namespace shardplan
