#include <cost_models/memory/compiler_budget.hpp>

namespace shardplan {
namespace {

constexpr double budget_share = 0.95;

}  // namespace

std::optional<Bytes> budget_beside_arguments(Bytes capacity, Bytes arguments, const Compiler& compiler) {
  if (!compiler.has(Habit::budgets_temporaries)) return std::nullopt;
  return Bytes{static_cast<std::int64_t>(budget_share * static_cast<double>((capacity - arguments).value))};
}

std::optional<ExceededBudget> exceeded_budget(const MemoryUse& memory, const Compiler& compiler) {
  const auto budget = budget_beside_arguments(memory.capacity, memory.arguments(), compiler);
  const Bytes needed = memory.peak() - memory.arguments();
  if (!budget || needed <= *budget || needed.value <= 0) return std::nullopt;
  return ExceededBudget{budget_share, needed, *budget};
}

}  // namespace shardplan
