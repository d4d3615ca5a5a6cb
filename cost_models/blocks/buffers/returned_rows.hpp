#pragma once
// Rows that come back round the ring, one for each of a token's experts, which are weighed and summed in float32
// (float32_weight_sum).
#include <cost_models/operations/operation_kind.hpp>
#include <vector>

namespace shardplan {

/// Of a layer that shares an iteration, where a remat policy has moved the rows to the host: they are fetched and widened
/// before the other layers run backward, and wait for the gradient of their weights as f32[tokens, experts of a token,
/// embed], of whose tiles ten experts fill 10 rows of 16 (qwen3next80bx24_v6e64_fsdp8_expert8_ring_minoff: of three of four
/// layers f32[16384, 10, 2048], 2.1 GB each) and four 4 of 8 (gpt-oss). Rows that are computed again don't wait so
/// (plan_qwen3next80ba3b_tpuv5p_32, plan_gptoss120b_tpu7x_16).
std::vector<Lifetime> returned_rows(const BlockState& state, const Schedule& schedule, const Liveness& liveness);

}  // namespace shardplan
