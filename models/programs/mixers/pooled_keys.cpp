#include <models/programs/mixers/pooled_keys.hpp>

namespace shardplan {
namespace {

/// Weights of one pooling: what is pooled, how much of each token, and of each place in the run.
struct Pooling {
  TensorId values, gates, places, scale;
};

Pooling add_pooling_weights(BlockBuilder& b, const std::string& name, std::int64_t ratio, std::int64_t width,
                            std::int64_t parts) {
  const TensorDim embed{Dim::embed, b.model.emb}, wide{Dim::mlp, parts * width};
  return {b.weight(name + "/kv_proj", {embed, wide}, {"embed", "kv"}),
          b.weight(name + "/gate_proj", {embed, wide}, {"embed", "kv"}),
          b.weight(name + "/position_bias", {{Dim::position, ratio}, wide}, {"", ""}),
          b.weight(name + "/kv_norm/scale", {{Dim::head_dim, width}}, {"norm"})};
}

TensorId multiply(BlockBuilder& b, const std::string& name, TensorId x, TensorId w) {
  const Dims tokens = b.dims(x);
  return b.apply(OpKind::einsum, name, {x, w},
                 b.activation(name + " output", {tokens[0], tokens[1], b.dims(w).back()}));
}

/// softmax(gates + places) weighs the values of a run; their sum is normed and rotated.
TensorId pool(BlockBuilder& b, const std::string& name, TensorId x, const Pooling& w, Dims pooled) {
  const TensorId values = multiply(b, name + "/kv_proj", x, w.values), gates = multiply(b, name + "/gate_proj", x, w.gates);
  const TensorId sums = b.apply(OpKind::elementwise, name + "/pool", {values, gates, w.places},
                                b.activation(name + " runs", pooled));
  return b.apply(OpKind::elementwise, name + "/kv_norm", {sums, w.scale}, b.activation(name + " keys", std::move(pooled)));
}

TensorDim runs_of(const BlockBuilder& b, TensorId x, std::int64_t ratio) {
  return {Dim::position, b.dims(x)[1].size / ratio};
}

/// From `first` on no gradient flows.
void freeze_from(BlockBuilder& b, std::size_t first) {
  for (std::size_t id = first; id < b.block.tensors.size(); ++id) b.block.tensors[id].differentiable = false;
}

TensorId add_mask(BlockBuilder& b, TensorId x, TensorDim runs) {
  return b.constant("pooled keys mask", {b.dims(x)[0], b.dims(x)[1], runs}, DType::pred,
                    {{"activation_batch_attn", "activation_q_length", "activation_kv_length"}});
}

}  // namespace

TensorId add_pooled_keys(BlockBuilder& b, TensorId x, std::int64_t ratio, std::int64_t parts) {
  const std::string name = parts > 1 ? "self_attention/csa_compressor" : "self_attention/hca_compressor";
  const TensorDim runs{Dim::sequence, b.dims(x)[1].size / ratio};
  return pool(b, name, x, add_pooling_weights(b, name, ratio, b.model.head_dim, parts),
              {b.dims(x)[0], runs, {Dim::kv_heads, 1}, {Dim::head_dim, b.model.head_dim}});
}

TensorId add_picked_keys(BlockBuilder& b, TensorId x, TensorId low_rank_query, std::int64_t ratio) {
  const Model& m = b.model;
  const std::string name = "self_attention/csa_compressor/indexer";
  const std::size_t first = b.block.tensors.size();
  const TensorId in = b.constrain("indexer input", x, b.block.tensors[x].constraint);
  const TensorId low = b.constrain("indexer query low rank", low_rank_query, b.block.tensors[low_rank_query].constraint);
  const Dims tokens = b.dims(x);
  const TensorDim heads{Dim::q_heads, m.indexer_n_heads}, dim{Dim::head_dim, m.indexer_head_dim};
  const TensorDim runs = runs_of(b, x, ratio);
  const TensorId wq = b.weight(name + "/q_proj", {{Dim::q_rank, m.q_lora_rank}, heads, dim}, {"q_lora", "indexer_q", ""});
  const TensorId query = b.apply(OpKind::einsum, name + "/q_proj", {low, wq},
                                 b.activation("indexer query", {tokens[0], tokens[1], heads, dim}));
  const TensorId keys =
      pool(b, name, in, add_pooling_weights(b, name, ratio, m.indexer_head_dim, 2), {tokens[0], runs, dim});
  const TensorId ww = b.weight(name + "/weights_proj", {tokens[2], heads}, {"embed", "indexer_weights"});
  const TensorId weights = b.apply(OpKind::einsum, name + "/weights_proj", {in, ww},
                                   b.activation("indexer head weights", {tokens[0], tokens[1], heads}));
  const TensorId mask = add_mask(b, x, runs);
  b.apply(OpKind::key_selection, name + "/top_k", {query, keys, weights}, mask);
  b.block.operations.back().selected_keys = m.indexer_topk;
  freeze_from(b, first);
  return mask;
}

TensorId add_all_pooled_keys_mask(BlockBuilder& b, TensorId x, std::int64_t ratio) {
  const std::size_t first = b.block.tensors.size();
  const TensorId in = b.constrain("positions", x, b.block.tensors[x].constraint);
  const TensorId mask =
      b.apply(OpKind::add, "self_attention/hca_compressor/mask", {in}, add_mask(b, x, runs_of(b, x, ratio)));
  freeze_from(b, first);
  return mask;
}

}  // namespace shardplan
