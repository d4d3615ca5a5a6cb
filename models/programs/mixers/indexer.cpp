#include <models/programs/mixers/indexer.hpp>

namespace shardplan {
namespace {

struct IndexerWeights {
  TensorId query, key, key_scale, key_bias, head_weights;
};

/// Everything in the indexer is cut off from gradients (stop_gradient).
TensorId frozen(BlockBuilder& b, TensorId tensor) {
  b.block.tensors[tensor].differentiable = false;
  return tensor;
}

IndexerWeights add_weights(BlockBuilder& b) {
  const Model& m = b.model;
  const TensorDim embed{Dim::embed, m.emb};
  const TensorDim heads{Dim::q_heads, m.indexer_n_heads}, dim{Dim::head_dim, m.indexer_head_dim};
  IndexerWeights w{};
  w.query = frozen(b, b.weight("self_attention/indexer/wq_b", {{Dim::q_rank, m.q_lora_rank}, heads, dim},
                               {"q_lora", "q_heads", "kv"}));
  w.key = frozen(b, b.weight("self_attention/indexer/wk", {embed, dim}, {"embed", "kv"}));
  w.key_scale = frozen(b, b.weight("self_attention/indexer/k_norm/scale", {dim}, {""}));
  w.key_bias = frozen(b, b.bias("self_attention/indexer/k_norm/bias", {dim}, {""}));
  w.head_weights = frozen(b, b.weight("self_attention/indexer/weights_proj", {embed, heads}, {"embed", "q_heads"}));
  b.block.tensors[w.head_weights].dtype = DType::f32;  // for precision, as MaxText says
  return w;
}

/// Einsum without gradients.
TensorId multiply(BlockBuilder& b, const std::string& name, TensorId lhs, TensorId rhs, Dims dims) {
  return b.apply(OpKind::einsum, "self_attention/indexer/" + name, {lhs, rhs},
                 frozen(b, b.activation("indexer " + name, std::move(dims))));
}

TensorId detach(BlockBuilder& b, TensorId tensor, const std::string& name) {
  return frozen(b, b.constrain(name, tensor, b.block.tensors[tensor].constraint));
}

/// Normed keys, their sequence as a dim of its own.
TensorId add_keys(BlockBuilder& b, TensorId x, const IndexerWeights& w) {
  const Dims tokens = b.dims(x);
  const TensorDim dim{Dim::head_dim, b.model.indexer_head_dim};
  const TensorId key = multiply(b, "wk", x, w.key, {tokens[0], tokens[1], dim});
  const TensorId normed = b.apply(OpKind::elementwise, "self_attention/indexer/k_norm", {key, w.key_scale, w.key_bias},
                                  frozen(b, b.activation("indexer normed key", b.dims(key))));
  return b.apply(OpKind::add, "self_attention/indexer/keys", {normed},
                 frozen(b, b.activation("indexer keys", {tokens[0], {Dim::position, tokens[1].size}, dim})));
}

}  // namespace

TensorId add_indexer(BlockBuilder& b, TensorId x, TensorId low_rank_query) {
  const Model& m = b.model;
  const IndexerWeights w = add_weights(b);
  const TensorDim batch = b.dims(x)[0], queries = b.dims(x)[1], keys{Dim::position, queries.size};
  if (queries.size <= m.indexer_topk) {
    for (const TensorId idle : {w.query, w.key, w.key_scale, w.key_bias, w.head_weights})
      b.block.tensors[idle].role = TensorRole::idle;
    return -1;
  }
  const TensorDim heads{Dim::q_heads, m.indexer_n_heads};
  const TensorId in = detach(b, x, "indexer input"), low = detach(b, low_rank_query, "indexer query low rank");
  const TensorId query =
      multiply(b, "wq_b", low, w.query, {batch, queries, heads, {Dim::head_dim, m.indexer_head_dim}});
  const TensorId key = add_keys(b, in, w);
  const TensorId head_weights = multiply(b, "weights_proj", in, w.head_weights, {batch, queries, heads});
  const TensorId mask = b.constant("indexer mask", {batch, queries, keys}, DType::pred,
                                   {{"activation_batch_attn", "activation_q_length", "activation_kv_length"}});
  b.apply(OpKind::key_selection, "self_attention/indexer/top_k", {query, key, head_weights}, mask);
  b.block.operations.back().selected_keys = m.indexer_topk;
  return mask;
}

}  // namespace shardplan
