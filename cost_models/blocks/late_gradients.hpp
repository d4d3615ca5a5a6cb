#pragma once
// Layers whose features are split, where weight gradients run when the rest of the backward pass has
// (Habit::runs_weight_gradients_beside_collectives): what was gathered before is gathered again where it is far away. XLA
// merges equal gathers only where their users are near (ScheduleAwareCollectiveOpsCSE).
#include <cost_models/partition/block_state.hpp>

namespace shardplan {

/// Of each operation: where the scan's iteration has several layers, inputs of all projections and the gradient of the
/// feed-forward's output (recorded: gemma2-9b under tensor=2 and 8); else the input of a query that is normed, where the
/// norm is computed again for attention (recorded: five programs of Qwen3; not with saved queries,
/// qwen314bx4_7x8_fsdp2tp4_saveqkv).
FarOperands far_operands(const BlockState& state, const Liveness& liveness);

/// Where they run beside the others (Habit::runs_split_layers_as_read): of each operation whether its weight's gradient
/// gathers again what it reads. Of a feed-forward whose layer shares the scan's iteration with others it does (recorded:
/// gemma29bx4_v5p16_fsdp2tp8_savedotctx_noclip, its input and its output's gradient in both layers; attention's once).
std::vector<bool> gathered_apart(const BlockState& state);

}  // namespace shardplan
