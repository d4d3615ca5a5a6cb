#include <cost_models/memory/compiler_budget.hpp>
#include <cost_models/memory/host_traffic.hpp>

namespace shardplan {
namespace {

constexpr double budget_share = 0.95;

}  // namespace

std::optional<Bytes> budget_beside_arguments(Bytes capacity, Bytes arguments, const Compiler& compiler) {
  if (!compiler.has(Habit::budgets_temporaries)) return std::nullopt;
  return Bytes{static_cast<std::int64_t>(budget_share * static_cast<double>((capacity - arguments).value))};
}

namespace {

std::optional<ExceededBudget> exceeded_by(Bytes needed, const MemoryUse& memory, const Compiler& compiler) {
  const auto budget = budget_beside_arguments(memory.capacity, memory.arguments(), compiler);
  if (!budget || needed <= *budget || needed.value <= 0) return std::nullopt;
  return ExceededBudget{budget_share, needed, *budget};
}

}  // namespace

std::optional<ExceededBudget> exceeded_budget(const MemoryUse& memory, const Compiler& compiler) {
  return exceeded_by(memory.peak() - memory.arguments(), memory, compiler);
}

std::optional<ExceededBudget> exceeded_with_host(const MemoryUse& memory, const BoundProgram& program,
                                                 const std::vector<PartitionedBlock>& blocks, const Compiler& compiler) {
  const Bytes on_host = offloaded(program, blocks);
  if (on_host.value == 0) return std::nullopt;
  return exceeded_by(memory.peak() - memory.arguments() + on_host, memory, compiler);
}

}  // namespace shardplan
