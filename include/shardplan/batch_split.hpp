#pragma once
// What MaxText's batch-split schedule (models/deepseek_batchsplit.py) takes for granted.
#include <cstdint>

namespace shardplan {

/// How many parts a batch has there: the schedule's code knows two (it speaks of the second one's way back apart).
inline constexpr std::int64_t batch_split_factor = 2;
/// It begins and ends with two layers each that are no iterations of its scan.
inline constexpr std::int64_t least_batch_split_layers = 4;

}  // namespace shardplan
