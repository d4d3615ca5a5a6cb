#pragma once
// The list of mixers: what a decoder layer does to its hidden state between two residual sums. Each writes its
// operations down and takes and returns [batch, sequence, embed]. A new kind of layer is a file of this folder and a
// line here; layer_kinds.cpp says which models have it.
#include <models/programs/block_builder.hpp>

namespace shardplan {

/// What the layers of a stack may differ in.
struct AttentionHeads {
  std::int64_t kv_heads = 0, head_dim = 0;
  AttentionWindow window{};
  bool rotary = true;
  bool shared_projection = false;  ///< of keys and values
  bool lent = false;               ///< keys and values are another layer's
  std::int64_t output_dim = -1;    ///< width of the output projection; -1: the hidden state's
};

TensorId add_grouped_query_attention(BlockBuilder& b, TensorId x, const AttentionHeads& shape);
TensorId add_latent_attention(BlockBuilder& b, TensorId x);
/// A window, and beside it keys that stand for `ratio` tokens each; 0: the window alone.
TensorId add_compressed_attention(BlockBuilder& b, TensorId x, std::int64_t ratio);
/// With a gate of its output beside each query.
TensorId add_gated_attention(BlockBuilder& b, TensorId x);
/// Linear attention: a state a head, carried along the sequence.
TensorId add_gated_delta_net(BlockBuilder& b, TensorId x);
TensorId add_dense_feed_forward(BlockBuilder& b, TensorId x);
TensorId add_double_wide_feed_forward(BlockBuilder& b, TensorId x);
/// Each token's own input of this layer, gated by the hidden state.
TensorId add_per_layer_input(BlockBuilder& b, TensorId x);
/// Routed experts on the path that the settings choose, and the shared ones.
TensorId add_mixture_of_experts(BlockBuilder& b, TensorId x);
/// The same where a table has each token's experts.
TensorId add_hash_routed_experts(BlockBuilder& b, TensorId x);
/// What a table holds of the n-grams that end with each token, gated by the streams of the hidden state; `layer` counts
/// among those that have it.
TensorId add_n_gram_memory(BlockBuilder& b, TensorId x, std::size_t layer);
/// A dense feed-forward and routed experts that read the hidden state, each normed before and after.
TensorId add_experts_beside_dense(BlockBuilder& b, TensorId x);
/// Grouped-query attention with a narrower output, experts of that width, and the projection back.
TensorId add_attention_into_experts(BlockBuilder& b, TensorId x, const AttentionHeads& shape);

}  // namespace shardplan
