#pragma once
// Layers whose weight gradients come last: mostly those of which a remat policy keeps what the feed-forward's projections
// made (minimal, minimal_with_context, minimal_offloaded).
#include <cost_models/operations/operation_kind.hpp>

namespace shardplan {

/// Whether the compiler leaves the weight gradients of such a layer to its end (Habit::runs_kept_weight_gradients_last), or
/// of one that shares an iteration with others to the iteration's (Habit::runs_cycle_weight_gradients_last); on
/// 7x (Habit::runs_weight_gradients_beside_collectives) of one whose feed-forward is computed again, too
/// (plan_llama3170b_tpu7x_64). Where features are split only there: 7x (mistral7bx4_7x8_fsdp4tp2_minctx), not v6e
/// (qwen34bx5_v6e8_tp8_minctx).
bool runs_weight_gradients_last(const BlockState& state, const Schedule& schedule);

/// Beside what their operands are: kept rows as their products read them, and the query's gradient while its rotation is
/// undone.
std::vector<Lifetime> waiting_for_weight_gradients(const BlockState& state, const Schedule& schedule);

}  // namespace shardplan
