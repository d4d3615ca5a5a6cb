#pragma once
// How large a step may be asked for. Far above what any device holds, and low enough that no count of bytes passes
// 2^63.
#include <cstdint>
#include <shardplan/train_config.hpp>

namespace shardplan {

inline constexpr std::int64_t most_tokens_a_device = std::int64_t{1} << 28;
inline constexpr std::int64_t most_accumulation_steps = std::int64_t{1} << 20;

/// The largest batch that a published run trained with: DeepSeek-V3, 15,360 sequences of 4,096 tokens (arXiv 2412.19437,
/// section 4.2); Llama 3 405B used 16M (arXiv 2407.21783).
inline constexpr std::int64_t largest_published_batch = 15'360LL * 4'096;

/// Tokens of a step beyond which a search does not go unless it is told to: the next round number above it.
inline constexpr std::int64_t usual_most_batch_tokens = 64LL << 20;

/// Throws InputError where a device would take more than that in a forward pass, or a step more passes.
void check_step_size(const TrainConfig& config);

}  // namespace shardplan
