#pragma once
// What the update of the weights needs beside weights, moments and gradients: ZeRO-1's gathered weights, muon's
// matrices.
#include <cost_models/partition/partitioned_block.hpp>
#include <shardplan/compiler/compiler.hpp>

namespace shardplan {

/// Under muon: every matrix in float32 and the compute dtype, the largest gathered (inferred from one program's peak).
/// ZeRO-1 (shard_optimizer_over_data) at the update: a data shard of all updated weights beside what was gathered; in
/// train_compile's program, where no copy waits any more, all of them gathered.
Bytes updates_in_flight(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                        const TrainConfig& config, const Compiler& compiler);

/// The whole weights that ZeRO-1 has beside its shards, to the end of the step: what the training loop gathers at the
/// start, in weight_dtype under NNX and in the compute dtype for the loop of gradient accumulation; in train_compile's
/// program a copy of the parameters, whose own place the updated ones will take, beside that loop's. Linen's training
/// loop keeps the shards for the update: what its layers read is their stack in the compute dtype (stacked_weights.hpp)
/// where the compiler casts before it gathers.
Bytes gathered_parameters(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                          const TrainConfig& config, const Compiler& compiler);

}  // namespace shardplan
