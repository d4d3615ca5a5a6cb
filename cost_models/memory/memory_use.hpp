#pragma once
// Memory of one device: what lives through the step, plus the largest of the moments at which XLA's buffer assignment
// peaks (moments.hpp).
#include <cost_models/partition/partitioned_block.hpp>
#include <shardplan/compiler/compiler.hpp>
#include <shardplan/evaluation.hpp>

namespace shardplan {

/// What a machine of this capacity a device would use: the compiler schedules for it. The reserve is left to whoever
/// knows it.
MemoryUse memory_use(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                     const TrainConfig& config, const Compiler& compiler, Bytes capacity);

/// The buffers of that peak, one entry for all that are alike, the largest entry first: activations and temporaries of the
/// moment that are at least a hundredth of it. Empty where no layer or head runs (the optimizer).
std::vector<HeldBuffer> held_at_peak(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                                     const TrainConfig& config, const Compiler& compiler, Bytes capacity);

/// The peak may be as high as if what is no argument took 1 + `error` times as much (Model::memory_error_high).
void raise_range(MemoryUse& use, double error);

}  // namespace shardplan
