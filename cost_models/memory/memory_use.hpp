#pragma once
// Memory of one device: what lives through the step, plus the largest of the moments at which XLA's buffer assignment
// peaks: the loss (all saved activations, logits), the backward pass of each layer stack (its saved activations, the
// gradients so far, the working set of one layer), the optimizer (all gradients).
#include <cost_models/partition/partitioned_block.hpp>
#include <shardplan/compiler/compiler.hpp>
#include <shardplan/evaluation.hpp>

namespace shardplan {

/// Blocks whose layers share one layer scan (Block::continues_cycle), in execution order; a block alone otherwise.
using Loop = std::vector<const PartitionedBlock*>;
std::vector<Loop> loops_of(const std::vector<PartitionedBlock>& blocks);

/// What the buffers of one run of a block add up to at its worst step, from `first_step` on.
Bytes working_set(const PartitionedBlock& block, int first_step);

/// The worst step of one iteration's backward pass. Layers of one iteration are recomputed together: while the last
/// runs backward, the values of the others wait.
Bytes working_set(const Loop& loop, const BoundProgram& program, const TrainConfig& config,
                  const Compiler& compiler);

/// Activations of a block that wait for its backward pass, all layers (or pipeline iterations) of one device.
Bytes saved_activations(const PartitionedBlock& block, const BoundProgram& program);

/// Capacity and reserve are left to whoever knows the machine.
MemoryUse memory_use(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                     const TrainConfig& config, const Compiler& compiler);

}  // namespace shardplan
