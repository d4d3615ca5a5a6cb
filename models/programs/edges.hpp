#pragma once
// The two ends of the program: token embedding, and final norm with head and loss.
#include <models/programs/block_builder.hpp>

namespace shardplan {

Block embedding_block(const Model& model, const TrainConfig& config, const ProgramSizes& sizes);
Block head_block(const Model& model, const TrainConfig& config, const ProgramSizes& sizes);

}  // namespace shardplan
