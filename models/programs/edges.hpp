#pragma once
// The two ends of the program: token embedding, and final norm with head and, where it trains, loss.
#include <models/programs/block_builder.hpp>

namespace shardplan {

Block embedding_block(const Model& model, const TrainConfig& config, const ProgramSizes& sizes);
/// The inputs that each layer of gemma4_small has for a token, for all layers: rows of a table and a projection of the
/// embedding, summed.
Block per_layer_embedding_block(const Model& model, const TrainConfig& config, const ProgramSizes& sizes);
/// Head and loss, in tiles of the vocabulary where the settings ask for it.
Block loss_block(const Model& model, const TrainConfig& config, const ProgramSizes& sizes);
/// The head alone.
Block logits_block(const Model& model, const TrainConfig& config, const ProgramSizes& sizes);

}  // namespace shardplan
