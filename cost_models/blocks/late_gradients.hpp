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

/// Where they run beside the others, in layers that share the scan's iteration: what their dense products gather for
/// weight gradients, features under tensor (Habit::runs_split_layers_as_read), rows under tensor_sequence. Gathers are
/// merged where the lowest reader of the one isn't much further from the step's end than the other
/// (schedule_aware_collective_ops_cse.cc, height). A weight gradient is next to the end; a layer's recomputation and input
/// gradients have the backward pass of the layers in front of it behind them, those of the iteration's first layer only its
/// own. What its recomputation is read for by the next layer is far, too (recorded:
/// gemma327b_v5p16_context4_tensor2_save_dot_except_mlp, in five of six layers; gemma29b_v5p16_tensor8_save_out_proj and
/// gemma29bx4_v5p16_fsdp2tp8_savedotctx_noclip, in the second of two; rows: gemma327b_v6e32_fsdp8ts4_minoff_s8192,
/// plan_gemma29b_tpuv6e_8_s4096_meshset2).
ApartOperands gathered_apart(const BlockState& state, const Liveness& liveness);

}  // namespace shardplan
