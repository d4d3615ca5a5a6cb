#pragma once
// Memory of one device: what lives through the step, plus the largest of the moments at which XLA's buffer assignment
// peaks (moments.hpp).
#include <cost_models/partition/partitioned_block.hpp>
#include <shardplan/compiler/compiler.hpp>
#include <shardplan/evaluation.hpp>

namespace shardplan {

/// What a machine of this capacity a device would use: the compiler schedules for it. The reserve is left to whoever
/// knows it. `held` is filled in where it is asked for: activations and temporaries of the peak that are at least a
/// hundredth of it (held_buffers.hpp).
MemoryUse memory_use(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program, const TrainConfig& config,
                     const Compiler& compiler, Bytes capacity, std::vector<HeldBuffer>* held = nullptr);

/// The peak may be as high as if what is no argument took 1 + `error` times as much (Model::memory_error_high).
void raise_range(MemoryUse& use, double error);

}  // namespace shardplan
