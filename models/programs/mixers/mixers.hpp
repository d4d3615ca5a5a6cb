#pragma once
// The list of mixers: what a decoder layer does to its hidden state between two residual sums. Each writes its
// operations down and takes and returns [batch, sequence, embed]. A new kind of layer is a file of this folder and a
// line here; layer_kinds.cpp says which models have it.
#include <models/programs/block_builder.hpp>

namespace shardplan {

/// `window`: tokens that a query looks back; 0: all.
TensorId add_grouped_query_attention(BlockBuilder& b, TensorId x, std::int64_t window);
TensorId add_latent_attention(BlockBuilder& b, TensorId x);
/// With a gate of its output beside each query.
TensorId add_gated_attention(BlockBuilder& b, TensorId x);
/// Linear attention: a state a head, carried along the sequence.
TensorId add_gated_delta_net(BlockBuilder& b, TensorId x);
TensorId add_dense_feed_forward(BlockBuilder& b, TensorId x);
/// Routed experts on the path that the settings choose, and the shared ones.
TensorId add_mixture_of_experts(BlockBuilder& b, TensorId x);

}  // namespace shardplan
