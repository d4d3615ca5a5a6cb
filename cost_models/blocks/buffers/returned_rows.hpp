#pragma once
// Rows that a token's experts return, one for each, which are weighed and summed in float32 (float32_weight_sum).
#include <cost_models/operations/operation_kind.hpp>
#include <vector>

namespace shardplan {

/// Of a layer that shares an iteration, what waits for the gradient of their weights as f32[tokens, experts of a token,
/// embed], of whose tiles ten experts fill 10 rows of 16 and four 4 of 8 (gpt-oss):
///   - rows of a ring that a remat policy has moved to the host: they are fetched and widened before the other layers run
///     backward (qwen3next80bx24_v6e64_fsdp8_expert8_ring_minoff: of three of four layers f32[16384, 10, 2048], 2.1 GB
///     each). Those that are computed again don't wait so (plan_qwen3next80ba3b_tpuv5p_32, plan_gptoss120b_tpu7x_16);
///   - rows of the ragged path that are computed again, where laying them into tiles makes a value of them
///     (Habit::widens_returned_rows): what they take beyond the rows as they lie, which it replaces.
std::vector<Lifetime> returned_rows(const BlockState& state, const Schedule& schedule, const Liveness& liveness);

}  // namespace shardplan
