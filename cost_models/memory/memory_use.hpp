#pragma once
// Memory of one device: what lives through the step, plus the largest of the moments at which XLA's buffer assignment
// peaks (moments.hpp).
#include <cost_models/partition/partitioned_block.hpp>
#include <cstdint>
#include <shardplan/compiler/compiler.hpp>
#include <shardplan/evaluation.hpp>

namespace shardplan {

/// Blocks whose layers share one layer scan (Block::continues_cycle), in execution order; a block alone otherwise.
using Loop = std::vector<const PartitionedBlock*>;
std::vector<Loop> loops_of(const std::vector<PartitionedBlock>& blocks);

/// Whether the products of weight gradients run where their operands are made.
enum class WeightGradients : std::uint8_t { here, later };

/// What the buffers of one run of a block add up to at its worst step, from `first_step` on.
Bytes working_set(const PartitionedBlock& block, int first_step,
                  WeightGradients weight_gradients = WeightGradients::here);

/// The worst step of one iteration's backward pass. Layers of one iteration are recomputed together: while the last
/// runs backward, the values of the others wait.
Bytes working_set(const Loop& loop, const BoundProgram& program, const TrainConfig& config, const Compiler& compiler,
                  WeightGradients weight_gradients = WeightGradients::here);

/// Buffers of one layer that live from its recomputation into its backward pass.
Bytes waiting_values(const PartitionedBlock& block);

/// Activations of a block that wait for its backward pass, all layers (or pipeline iterations) of one device.
Bytes saved_activations(const PartitionedBlock& block, const BoundProgram& program);

/// What a machine of this capacity a device would use: the compiler schedules for it. The reserve is left to whoever
/// knows it.
MemoryUse memory_use(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                     const TrainConfig& config, const Compiler& compiler, Bytes capacity);

/// The peak may be as high as if what is no argument took 1 + `error` times as much (Model::memory_error_high).
void raise_range(MemoryUse& use, double error);

}  // namespace shardplan
