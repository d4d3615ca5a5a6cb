#include <algorithm>
#include <cmath>
#include <planner/evaluate/evaluate.hpp>
#include <planner/evaluate/flagged_memory.hpp>

namespace shardplan {
namespace {

MemoryUse memory_of(const Configuration& configuration) {
  PreparedMesh mesh;
  return evaluate_memory(configuration, mesh).memory;
}

}  // namespace

std::optional<FlaggedMemory> memory_with_assumed_flags(const Configuration& configuration) {
  constexpr double worth_saying = 0.01;
  const Compiler& assumed = configuration.compiler;
  if (assumed.flags_assumed_from.empty()) return std::nullopt;
  Compiler compiler = with_flags(assumed, flags_of(configuration));
  if (compiler.habits == assumed.habits) return std::nullopt;
  Configuration flagged = configuration;
  flagged.compiler = std::move(compiler);
  const FlaggedMemory memory{memory_of(configuration), memory_of(flagged)};
  const double with = static_cast<double>(memory.with.peak().value);
  const double without = static_cast<double>(memory.without.peak().value);
  if (without == 0 || std::abs(with / without - 1) < worth_saying) return std::nullopt;
  return memory;
}

void span_assumed_flags(MemoryUse& memory, const Configuration& configuration) {
  const auto flagged = memory_with_assumed_flags(configuration);
  if (!flagged) return;
  memory.low = std::min(memory.low, flagged->with.low);
  memory.high = std::max(memory.high, flagged->with.high);
}

}  // namespace shardplan
