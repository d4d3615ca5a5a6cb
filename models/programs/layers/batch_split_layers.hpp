#pragma once
// DeepSeek's layers with experts under use_batch_split_schedule (MaxText models/deepseek_batchsplit.py).
#include <models/programs/layers/layer.hpp>
#include <shardplan/batch_split.hpp>

namespace shardplan {

Block batch_split_block(const std::string& name, std::int64_t layers, const Model& model, const TrainConfig& config,
                        const ProgramSizes& sizes);

}  // namespace shardplan
