#pragma once
// In which of its orders XLA is expected to run a step, as far as the head's weight gradient tells them apart. It orders the
// whole program three times and takes the order whose peak it estimates least (hlo_memory_scheduler.cc): a list, which runs
// next what frees most, and two that go back from the results. docs/cost-model.md, "Which schedule XLA takes".
#include <cost_models/memory/moments.hpp>
#include <shardplan/evaluation.hpp>
#include <shardplan/program.hpp>

namespace shardplan {

/// Whether the head's weight gradient may as well be in front of the layers' backward pass as behind it.
bool may_wait(const std::vector<PartitionedBlock>& blocks, const Compiler& compiler);

/// Whether that is where XLA's list has it.
bool is_listed(HeadGradient order);

/// A scheduler that hides collectives behind products that nothing waits for (XLA:GPU's) puts the head's weight gradient
/// behind the layers' loop to hide what the table's rows move there; where they move nothing it leaves it where it is made,
/// in front of the loop (plan_mixtral8x7b_h100_32, whose table is gathered).
bool is_left_before_loop(const std::vector<PartitionedBlock>& blocks, const Compiler& compiler);

/// Of a head that may.
HeadGradient expected_late_or_early(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                                    const TrainConfig& config, const Compiler& compiler, const MemoryUse& use);

/// Of other heads: `early_in_list` where the list's peak is less than that of the `usual` moments.
HeadGradient usual_or_listed(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                             const TrainConfig& config, const Compiler& compiler, const std::vector<Moment>& usual);

}  // namespace shardplan
