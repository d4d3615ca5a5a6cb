#pragma once
// How far XLA for v5p and v6e fills a device's memory before it schedules otherwise.

namespace shardplan {

/// Beyond this share of the memory XLA for v5p and v6e schedules for less of it, and clones gathers: heads that would wait
/// at 92.3% do (plan_qwen3235ba22b_tpuv5p_256), at 93.3% and 96% they don't (plan_gptoss120b_tpuv5p_64,
/// plan_gemma327b_tpuv6e_32); programs with clones have peaks of 93.2% to 93.9% left, or more than 94% without
/// (plan_mixtral8x22b_tpuv5p_64, plan_qwen3next80ba3b_tpuv5p_64, plan_mixtral8x7b_tpuv6e_64).
inline constexpr double schedule_limit = 0.93;

}  // namespace shardplan
