#include <cost_models/memory/compiler_budget.hpp>

namespace shardplan {

std::optional<ExceededBudget> exceeded_budget(const MemoryUse& memory, const Compiler& compiler) {
  constexpr double share = 0.95;
  if (!compiler.has(Habit::budgets_temporaries)) return std::nullopt;
  const Bytes left = memory.capacity - memory.arguments(), needed = memory.peak() - memory.arguments();
  const Bytes budget{static_cast<std::int64_t>(share * static_cast<double>(left.value))};
  if (needed <= budget || needed.value <= 0) return std::nullopt;
  return ExceededBudget{share, needed, budget};
}

}  // namespace shardplan
