#pragma once
// What a pipeline adds to its layers (SHARDING.md 2.6): the shift of activations to the next stage, the rotation of the
// input and output buffers, circular storage, and the reshard between microbatches and the batch of the head.
#include <cost_models/partition/partitioned_block.hpp>

namespace shardplan {

/// Collectives beside those of the blocks; empty without a pipeline.
std::vector<Collective> pipeline_traffic(const BoundProgram& program, const std::vector<PartitionedBlock>& blocks,
                                         const TrainConfig& config);

}  // namespace shardplan
