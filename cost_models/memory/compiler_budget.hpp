#pragma once
// Within how much memory a compiler schedules (Habit::budgets_temporaries): XLA:GPU's latency-hiding scheduler and
// rematerialization pass work within 95% of what the arguments leave of the process's memory (xla/service/gpu/
// gpu_hlo_schedule.cc). 80 GB, 20 of them arguments: 57 GB for gradients, activations and temporaries.
#include <cost_models/partition/partitioned_block.hpp>
#include <optional>
#include <shardplan/compiler/compiler.hpp>
#include <shardplan/evaluation.hpp>

namespace shardplan {

/// Beside the arguments; empty where the compiler has none.
std::optional<Bytes> budget_beside_arguments(Bytes capacity, Bytes arguments, const Compiler& compiler);

struct ExceededBudget {
  double share;          ///< of what the arguments leave
  Bytes needed, budget;  ///< beside the arguments
};

/// Empty where the program is within it, or its compiler has none.
std::optional<ExceededBudget> exceeded_budget(const MemoryUse& memory, const Compiler& compiler);

/// With what layers have on the host, which XLA:GPU's rematerialization counts as if the device held it
/// (hlo_rematerialization.cc knows one memory). Empty where nothing is there.
std::optional<ExceededBudget> exceeded_with_host(const MemoryUse& memory, const BoundProgram& program,
                                                 const std::vector<PartitionedBlock>& blocks, const Compiler& compiler);

}  // namespace shardplan
