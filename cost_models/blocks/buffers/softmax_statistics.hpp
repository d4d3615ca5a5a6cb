#pragma once
// Splash attention's softmax statistics, a float32 for each lane of a tile, for each query and head: 48 heads of 32 x 2048
// queries take f32[48,32,2048,128] (plan_gptoss120b_tpu7x_64).
#include <cost_models/blocks/liveness.hpp>
#include <cost_models/operations/operation_kind.hpp>
#include <vector>

namespace shardplan {

/// Whether a dense layer leaves them where they are until its attention's gradient, because XLA takes its depth-first
/// order, in which the copy that turns and reduces them stands in front of what reads it; its list reduces them at once (of
/// 163 MaxText steps logged for v6e and v5p 69 of 80 in the list within 36 instructions, most others cycles of layers and
/// mixtures; 66 of 83 depth-first after 37 to 5,380). Where values are moved to the host the order is depth-first, unless
/// the list is expected (head_order.hpp).
bool waits_depth_first(const BlockState& state, const Liveness& liveness);

/// Those of attention that is computed again, where they wait for its gradient: `wait`, for the order or beside experts
/// whose rows are exchanged; of all mixtures on the sparse paths where a compiler keeps them
/// (Habit::keeps_softmax_statistics); and where layers share an iteration and a device has one sequence
/// (olmo3_7bx8_v5p8_fsdp8, gm3_12b_v6e8_full; not with 2 to 16).
std::vector<Lifetime> softmax_statistics(const BlockState& state, const Schedule& schedule, bool wait);

}  // namespace shardplan
