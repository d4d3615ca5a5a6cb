#pragma once
// At the optimizer, a stack that moved between stages and repeats (cost_models/step/layer_stack.hpp): its gradients are
// where the stages split the repeats, and the moments are made there.
#include <cost_models/partition/partitioned_block.hpp>
#include <shardplan/compiler/compiler.hpp>

namespace shardplan {

/// What of a block's gradients waits for their common norm.
Bytes gradients_for_norm(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config,
                         const Compiler& compiler);

/// Both moments of the largest weight, as they are made and before they go back (recorded:
/// llama27bx8_v5p16_pp4fsdp4_once). ZeRO-1's go to data's shards as they are made.
Bytes moments_in_flight(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                        const TrainConfig& config, const Compiler& compiler);

}  // namespace shardplan
