#pragma once
// Gathered weights that the backward pass lets go of between the recomputation of their product and its gradient, and
// gathers once more. XLA merges equal gathers only where their users are near (ScheduleAwareCollectiveOpsCSE: a
// distance in the graph); between a recomputed product and its gradient lies all that the recomputation leads on to.
#include <cost_models/partition/partitioned_block.hpp>
#include <shardplan/compiler/compiler.hpp>
#include <shardplan/train_config.hpp>

namespace shardplan {

/// Whether the layer after this block's is recomputed with it: both are layers of one scan iteration.
bool leads_to_next_layer(const Block& block, const Program& program);

/// Whether an iteration of the scan has another layer beside it, and no loop of its own around it.
bool shares_iteration(const Block& block, const Program& program);

/// Of each operation, whether its recomputation is read, on the way, by the next layer of the iteration.
std::vector<bool> recomputed_for_next_layer(const Block& block, const Program& program, const Liveness& liveness);

/// Of each operation, whether the weight that it reads is gathered again for its gradient:
///   - attention's, where their recomputation leads on to experts (Habit::gathers_moe_layer_weights_twice);
///   - any that has to be recomputed to reach a later layer of the same scan iteration, and of the last layer those of
///     query, key and value (Habit::gathers_again_in_cycles); of any, those of query and key that one norm spans;
///   - attention's of layers that nothing scans, where four products in a row have to be recomputed behind theirs
///     (Habit::gathers_again_in_cycles; gemma4e2b_v5p4_fsdp4, gemma34bx6_v5p8_fsdp4_unscanned);
///   - those of query, key and value where their products are narrow (Habit::gathers_narrow_heads_again). Expert
///     weights inside a shard_map are its operands: its gradient is handed the gathered ones.
std::vector<bool> released_weights(const Block& block, const DataFlow& flow, const Program& program,
                                   const Liveness& liveness, const TrainConfig& config, const Compiler& compiler);

}  // namespace shardplan
