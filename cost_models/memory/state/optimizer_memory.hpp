#pragma once
// What ZeRO-1's update of the weights needs beside weights, moments and gradients: gathered weights.
#include <cost_models/partition/partitioned_block.hpp>
#include <shardplan/compiler/compiler.hpp>

namespace shardplan {

/// ZeRO-1 (shard_optimizer_over_data) at the update: a data shard of all updated weights beside what was gathered; in
/// train_compile's program, where no copy waits any more, all of them gathered.
Bytes updates_in_flight(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                        const TrainConfig& config, const Compiler& compiler);

/// Where ZeRO-1's shards lie in another order than the weight's own (optimizer_layout.hpp, `joined`) and the update reads
/// gathered weights: whole over these axes each decayed weight and its update, where shards are permuted before gathers
/// their sum alone. All of them wait for each other where memory allows (ll7x4_v5p8_zero1_dp2_fsdp4_loop,
/// ll8x4_v6e8_zero1_dp4_fsdp2_loop); a compiler that is short of it makes the next ones when others are written
/// (mx8x3_v6e8_zero1_dp2_ep4_loop).
struct MixedUpdates {
  Bytes together;  ///< with updated shards and what else was gathered; 0 where there are none
  Bytes in_turn;   ///< of that, all but the largest weight's
};
MixedUpdates mixed_updates(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                           const TrainConfig& config, const Compiler& compiler);

/// The whole weights that ZeRO-1 has beside its shards, to the end of the step: what the training loop gathers at the
/// start, in weight_dtype under NNX and in the compute dtype for the loop of gradient accumulation (cast, if there is
/// nothing to gather); in train_compile's program a copy of the parameters, whose own place the updated ones will take
/// (Habit::copies_weights_for_update), beside that loop's; of weights that lie in another order (lies_in_order) the shards
/// that the update reads, cut out and turned. Linen's training loop keeps the shards for the update: what its layers read is
/// their stack in the compute dtype (stacked_weights.hpp) where the compiler casts before it gathers.
Bytes gathered_parameters(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                          const TrainConfig& config, const Compiler& compiler);

}  // namespace shardplan
