#pragma once
// Walks a block in the passes that the program's step makes: forward (sharding propagates, collectives are recorded),
// and of a train step also the recomputation of what the remat policy dropped, and backward in reverse.
#include <cost_models/blocks/known_blocks.hpp>
#include <shardplan/compiler/compiler.hpp>

namespace shardplan {

/// Derives the collectives of forward, recomputed forward and backward of one block, its work and its buffers.
PartitionedBlock partition_block(const BoundProgram& program, const BoundBlock& block, const TrainConfig& config,
                                 const Compiler& compiler);

/// All blocks, in order.
std::vector<PartitionedBlock> partition(const BoundProgram& program, const TrainConfig& config,
                                        const Compiler& compiler);

/// Makes of what partition() returned for the same program under another remat policy what it returns under this one:
/// a block of which the backward pass needs, keeps and computes the same again stays as it is. Blocks are taken from
/// `shared` where it has them, and added to it.
void repartition(std::vector<PartitionedBlock>& blocks, const BoundProgram& program, const TrainConfig& config,
                 const Compiler& compiler, KnownBlocks* shared = nullptr);

}  // namespace shardplan
