#pragma once
// Circular pipelines that gather their weights once (pipeline_fsdp_ag_once with more than one repeat): MaxText strips
// the repeats dim from the weights' specs but not from the weights, so their constraint shifts by one dim and asks for
// stages on the repeats (SHARDING.md section 8, quirk 13). The compiler obeys: at the start of a step all layer weights
// move from [repeats, stages/P] to [repeats/P, stages] and back, their gradients and both moments' updates make the
// same trip.
#include <cost_models/partition/partitioned_block.hpp>
#include <shardplan/compiler/compiler.hpp>

namespace shardplan {

/// Collectives beside those of the blocks; empty unless the run is such a pipeline. Recorded on XLA:TPU and XLA:GPU,
/// which differ in the dtype that moves and in how fsdp shards take part
/// (Habit::moves_stacks_in_compute_dtype).
std::vector<Collective> layer_stack_traffic(const BoundProgram& program, const std::vector<PartitionedBlock>& blocks,
                                            const TrainConfig& config, const Compiler& compiler);

}  // namespace shardplan
