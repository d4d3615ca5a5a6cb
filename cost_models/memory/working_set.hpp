#pragma once
// What one iteration of a loop over layers holds at the worst step of its backward pass.
#include <cost_models/partition/loops.hpp>
#include <cstdint>
#include <shardplan/compiler/compiler.hpp>

namespace shardplan {

/// Whether the products of weight gradients run where their operands are made.
enum class WeightGradients : std::uint8_t { here, later };

/// What the buffers of one run of a block add up to at its worst step, from `first_step` on.
Bytes working_set(const PartitionedBlock& block, int first_step,
                  WeightGradients weight_gradients = WeightGradients::here);

/// The worst step of one iteration's backward pass. Layers of one iteration are recomputed together: while the last
/// runs backward, the values of the others wait.
Bytes working_set(const Loop& loop, const BoundProgram& program, const TrainConfig& config, const Compiler& compiler,
                  WeightGradients weight_gradients = WeightGradients::here);

/// One of the buffers that working_set(loop) adds up.
struct HeldInIteration {
  const PartitionedBlock* block;
  BufferName name;
  Bytes bytes;
  std::int64_t layers;  ///< of the iteration that hold one each
};
std::vector<HeldInIteration> held_in_iteration(const Loop& loop, const BoundProgram& program, const TrainConfig& config,
                                               const Compiler& compiler, WeightGradients weight_gradients);

/// Buffers of one layer that live from its recomputation into its backward pass.
Bytes waiting_values(const PartitionedBlock& block);

}  // namespace shardplan
