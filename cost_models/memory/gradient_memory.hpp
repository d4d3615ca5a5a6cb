#pragma once
// Gradients that wait for the optimizer. A layer stack's are written layer by layer into stacks of weight_dtype; those
// of embedding and head stay in the compute dtype until the optimizer reads them.
#include <cost_models/partition/partitioned_block.hpp>

namespace shardplan {

/// Gradients of a layer stack while its backward pass runs: a scan (over layers or pipeline iterations) writes them
/// into stacks of weight_dtype; without a scan they stay in the compute dtype.
Bytes stack_gradients(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config);

/// What the head leaves behind while the layers run backward: the gradient of its weights, or, where the compiler
/// computes that gradient last (CompilerHabits::defers_head_gradient), the gradient of the logits and the normed
/// decoder output.
Bytes head_leftover(const PartitionedBlock& head, const BoundProgram& program, const TrainConfig& config,
                    const CompilerHabits& habits);

/// What of a block's gradients the optimizer finds.
Bytes waiting_gradients(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config);

/// ZeRO-1 (shard_optimizer_over_data) at the update: a data shard of all updated weights beside what was gathered; in
/// train_compile's program, where no copy waits any more, all of them gathered and a copy of the largest on its way into
/// the output.
Bytes updates_in_flight(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                        const TrainConfig& config, const CompilerHabits& habits);

/// The whole weights that ZeRO-1 has beside its shards, to the end of the step: what the training loop gathers at the
/// start, in weight_dtype under NNX and in the compute dtype for the loop of gradient accumulation; in train_compile's
/// program a copy of the parameters, whose own place the updated ones will take, beside that loop's. Linen's training loop keeps the shards
/// for the update: what its layers read is their stack in the compute dtype (stacked_weights.hpp) where the compiler
/// casts before it gathers.
Bytes gathered_parameters(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                          const TrainConfig& config, const CompilerHabits& habits);

}  // namespace shardplan
