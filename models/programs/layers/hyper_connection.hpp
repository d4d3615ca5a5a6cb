#pragma once
// Manifold-constrained hyper-connections (MaxText layers/mhc.py): the hidden state is several streams; each branch
// reads a weighted sum of them and adds its result to a mixture of them, with weights that a token's own streams give.
#include <models/programs/layers/layer.hpp>

namespace shardplan {

/// The branch between its two mixtures: [batch, sequence, streams, embed] to the same.
TensorId add_hyper_connection(BlockBuilder& b, TensorId x, const Branch& branch);

/// One hidden state becomes equal streams.
TensorId spread_streams(BlockBuilder& b, TensorId x, const Constraint& constraint);
/// And one again, behind the last layer: their sum, or a weighted one (DeepSeek4HyperHead).
TensorId merge_streams(BlockBuilder& b, TensorId x, const Constraint& constraint);

}  // namespace shardplan
