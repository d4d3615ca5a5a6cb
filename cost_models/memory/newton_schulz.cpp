#include <algorithm>
#include <cost_models/memory/newton_schulz.hpp>
#include <cost_models/memory/static_memory.hpp>
#include <cost_models/step/muon_matrix.hpp>

namespace shardplan {
namespace {

/// Elements of one matrix of every layer on a device, experts and all.
struct Stack {
  std::int64_t shard, whole, square;  ///< of X, X gathered over the axes of its kept dim, A
  bool of_experts;
  std::int64_t square_shards;         ///< devices that each compute a part of A; 1: its kept dim is whole
  bool is_split() const { return square_shards > 1; }
};

std::vector<Stack> stacks_of(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program) {
  const Mesh& mesh = *program.mesh;
  std::vector<Stack> stacks;
  for (const auto& block : blocks)
    for (std::size_t i = 0; i < block.specs.size(); ++i) {
      const Tensor& weight = block.block->tensors[i];
      if (!weight.parameter || !is_muon_matrix(weight, *block.block)) continue;
      const std::int64_t layers = layers_on_device(*block.block, program.program->pipeline);
      const std::int64_t shard = local_elements(weight.dims, block.specs[i], mesh) * layers;
      const MuonMatrix matrix = muon_matrix(weight, block.specs[i], mesh);
      const std::int64_t parts = mesh.product(matrix.kept_axes);
      stacks.push_back({shard, shard * parts, layers * matrix.batch * matrix.kept * matrix.kept, is_of_experts(weight),
                        parts});
    }
  return stacks;
}

std::int64_t at_once(const Stack& stack, std::int64_t narrow) {
  const std::int64_t wide = size_of(DType::f32);
  if (stack.is_split()) return 6 * stack.shard * wide + (stack.whole + stack.square) * narrow;
  return (5 * stack.shard + 2 * stack.square) * wide;
}

/// Beside what waits of the others.
std::int64_t alone(const Stack& stack, std::int64_t narrow) {
  const std::int64_t wide = size_of(DType::f32);
  if (stack.is_split())
    return stack.shard * (5 * wide + narrow) + (stack.whole + stack.square / stack.square_shards) * narrow;
  return 5 * stack.shard * wide + stack.square * (wide + narrow);
}

/// One after the other.
Bytes in_turn(const std::vector<Stack>& stacks, std::int64_t narrow) {
  if (stacks.empty()) return {};
  const Stack& largest =
      *std::max_element(stacks.begin(), stacks.end(), [](const Stack& a, const Stack& b) { return a.shard < b.shard; });
  const auto as_large =
      std::count_if(stacks.begin(), stacks.end(), [&](const Stack& s) { return s.shard == largest.shard; });
  const std::int64_t waiting = (largest.is_split() ? as_large : as_large - 1) * largest.shard * size_of(DType::f32);
  return Bytes{alone(largest, narrow) + waiting};
}

}  // namespace

NewtonSchulz newton_schulz(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                           const TrainConfig& config, const Compiler& compiler) {
  std::vector<Stack> stacks = stacks_of(blocks, program);
  const std::int64_t narrow = size_of(newton_schulz_dtype(config, compiler));
  NewtonSchulz needs;
  if (compiler.has(Habit::orthogonalizes_matrices_together)) {
    for (const Stack& stack : stacks) needs.first += Bytes{at_once(stack, narrow)};
    return needs;
  }
  const auto experts = std::stable_partition(stacks.begin(), stacks.end(), [](const Stack& s) { return !s.of_experts; });
  needs.last = in_turn({experts, stacks.end()}, narrow);
  stacks.erase(experts, stacks.end());
  needs.first = in_turn(stacks, narrow);
  return needs;
}

}  // namespace shardplan
