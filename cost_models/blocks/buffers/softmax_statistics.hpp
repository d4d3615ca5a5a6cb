#pragma once
// Splash attention's softmax statistics, a float32 for each lane of a tile, for each query and head: 48 heads of 32 x 2048
// queries take f32[48,32,2048,128] (plan_gptoss120b_tpu7x_64).
#include <cost_models/operations/operation_kind.hpp>
#include <vector>

namespace shardplan {

/// Those of attention that is computed again, where they wait for its gradient: beside experts whose rows are exchanged,
/// and of all mixtures on the sparse paths where a compiler keeps them (Habit::keeps_softmax_statistics); and where layers
/// share an iteration and a device has one sequence (olmo3_7bx8_v5p8_fsdp8, gm3_12b_v6e8_full; not with 2 to 16). Other
/// layers hold them too, see docs/cost-model.md.
std::vector<Lifetime> softmax_statistics(const BlockState& state, const Schedule& schedule, bool exchanges_experts);

}  // namespace shardplan
