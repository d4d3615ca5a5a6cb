#pragma once
// DeepSeek's layers with experts under use_batch_split_schedule (MaxText models/deepseek_batchsplit.py).
#include <models/programs/layers/layer.hpp>

namespace shardplan {

/// How many parts a batch has there: the schedule's code knows two (it speaks of the second one's way back apart).
inline constexpr std::int64_t batch_split_factor = 2;
/// It begins and ends with two layers each that are no iterations of its scan.
inline constexpr std::int64_t least_batch_split_layers = 4;

Block batch_split_block(const std::string& name, std::int64_t layers, const Model& model, const TrainConfig& config,
                        const ProgramSizes& sizes);

}  // namespace shardplan
