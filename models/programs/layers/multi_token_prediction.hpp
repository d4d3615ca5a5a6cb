#pragma once
// Multi-token prediction (MaxText layers/multi_token_prediction.py): behind the decoder, each of its layers is given
// the hidden state and the embedding of the token after the next and predicts one token further, with the model's own
// table and head.
#include <models/programs/layers/layer.hpp>

namespace shardplan {

/// Blocks that run once for each of its layers and are not rematerialized: the embedding of the later tokens, the layer
/// behind a projection of both (of a decoder that repeats in cycles a block for each kind of the cycle, the first with the
/// projection), the head with its own loss. Empty where the model has no such layers.
std::vector<Block> multi_token_prediction_blocks(const std::vector<LayerKind>& decoder, const Model& model,
                                                 const TrainConfig& config, const ProgramSizes& sizes);

}  // namespace shardplan
