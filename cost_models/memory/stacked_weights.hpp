#pragma once
// Copies of a layer stack's weights that the compiler makes outside of the loop over layers, because the loop's body
// wants them in another dtype, order or layout. They live from before the first layer to the end of the stack's
// backward pass.
#include <cost_models/partition/partitioned_block.hpp>
#include <shardplan/compiler/compiler.hpp>

namespace shardplan {

/// The largest of nothing, a cast (XLA:TPU; two with pipeline_fsdp_ag_per_repeat, whose window is cut from a second
/// one), a transposition (XLA:GPU; XLA:TPU of weights that aren't cast) or a gather (pipeline_fsdp_ag_once;
/// experts that are held).
Bytes stacked_weight_copies(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config,
                            const Compiler& compiler);

/// Gathered experts that a pipeline holds until its forward loop is through (held_experts.hpp), those that it gathers again.
Bytes held_in_forward_loop(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config,
                           const Compiler& compiler);

/// Elements of a stack's weights on one device once they are gathered over fsdp.
std::int64_t gathered_elements(const PartitionedBlock& block, const BoundProgram& program);

/// Elements of a pipelined stack's weights on one device once they are gathered over fsdp (pipeline_fsdp_ag_once); of
/// any other stack as it is stored.
std::int64_t resident_elements(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config);

}  // namespace shardplan
