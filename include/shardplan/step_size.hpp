#pragma once
// How large a step may be asked for. Far above what any device holds, and low enough that no count of bytes passes
// 2^63.
#include <cstdint>
#include <shardplan/train_config.hpp>

namespace shardplan {

inline constexpr std::int64_t most_tokens_a_device = std::int64_t{1} << 28;
inline constexpr std::int64_t most_accumulation_steps = std::int64_t{1} << 20;

/// Throws InputError where a device would take more than that in a forward pass, or a step more passes.
void check_step_size(const TrainConfig& config);

}  // namespace shardplan
