#include <algorithm>
#include <cost_models/memory/state/newton_schulz.hpp>
#include <cost_models/step/muon_matrix.hpp>

namespace shardplan {
namespace {

std::int64_t at_once(const MuonStack& stack, std::int64_t narrow) {
  const std::int64_t wide = size_of(DType::f32);
  if (stack.is_split()) return 6 * stack.shard() * wide + (stack.whole() + stack.square()) * narrow;
  return (5 * stack.shard() + 2 * stack.square()) * wide;
}

/// Beside what waits of the others.
std::int64_t alone(const MuonStack& stack, std::int64_t narrow) {
  const std::int64_t wide = size_of(DType::f32);
  if (stack.is_split())
    return stack.shard() * (5 * wide + narrow) + (stack.whole() + stack.square() / stack.rows) * narrow;
  return 5 * stack.shard() * wide + stack.square() * (wide + narrow);
}

/// One after the other.
Bytes in_turn(const std::vector<MuonStack>& stacks, std::int64_t narrow) {
  if (stacks.empty()) return {};
  const auto is_smaller = [](const MuonStack& a, const MuonStack& b) { return a.shard() < b.shard(); };
  const MuonStack& largest = *std::max_element(stacks.begin(), stacks.end(), is_smaller);
  const auto as_large =
      std::count_if(stacks.begin(), stacks.end(), [&](const MuonStack& s) { return s.shard() == largest.shard(); });
  const std::int64_t waiting = (largest.is_split() ? as_large : as_large - 1) * largest.shard() * size_of(DType::f32);
  return Bytes{alone(largest, narrow) + waiting};
}

}  // namespace

NewtonSchulz newton_schulz(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                           const TrainConfig& config, const Compiler& compiler) {
  std::vector<MuonStack> stacks = muon_stacks(blocks, program);
  const std::int64_t narrow = size_of(newton_schulz_dtype(config, compiler));
  NewtonSchulz needs;
  if (compiler.has(Habit::orthogonalizes_matrices_together)) {
    for (const MuonStack& stack : stacks) needs.first += Bytes{at_once(stack, narrow)};
    return needs;
  }
  const auto experts = std::stable_partition(stacks.begin(), stacks.end(), [](const MuonStack& s) { return !s.of_experts; });
  needs.last = in_turn({experts, stacks.end()}, narrow);
  stacks.erase(experts, stacks.end());
  needs.first = in_turn(stacks, narrow);
  return needs;
}

}  // namespace shardplan
