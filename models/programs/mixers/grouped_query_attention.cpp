// Grouped-query attention. fused_qkv projects query, key and value with one weight: of three equal parts in gpt3
// (MaxText models/gpt3.py), of all heads in a row elsewhere (layers/attentions.py, qkv_projection).
#include <models/programs/mixers/attention_parts.hpp>
#include <models/programs/mixers/mixers.hpp>

namespace shardplan {
namespace {

struct Head {
  std::string name;
  TensorDim heads;
  LogicalAxes axes;  ///< of its weight
  bool normed;
};

Constraint head_constraint() {
  return {{"activation_kv_batch", "activation_length_attn", "activation_kv_heads", "activation_kv_head_dim"}};
}

Head query_head(const Model& m) {
  return {"query", {Dim::q_heads, m.q_heads}, {"embed", "q_heads", "kv"}, m.use_qk_norm};
}

Head key_head(const Model& m) {
  return {"key", {Dim::kv_heads, m.kv_heads}, {"embed", "kv_heads", "kv_head_dim"}, m.use_qk_norm};
}

Head value_head(const Model& m) {
  return {"value", {Dim::kv_heads, m.kv_heads}, {"embed", "kv_heads", "kv_head_dim"}, false};
}

/// Over one head; olmo3 over all of them (GlobalRMSNorm), with a scale of heads × head_dim.
TensorId add_head_norm(BlockBuilder& b, TensorId head, const Head& kind) {
  const std::string name = "self_attention/" + kind.name + "_norm";
  const std::size_t scaled_dims = b.model.qk_norm_over_all_heads ? 2 : 1;
  return b.norm_over(scaled_dims, name, head, head_constraint(), {kind.name + "_proj"});
}

TensorId add_head(BlockBuilder& b, TensorId x, const Head& kind) {
  const TensorDim head_dim{Dim::head_dim, b.model.head_dim};
  const std::vector<std::string> saved =
      kind.normed ? std::vector<std::string>{} : std::vector<std::string>{kind.name + "_proj"};
  TensorId head = as_projection(
      b, project_onto_heads(b, x, kind.name, kind.heads, head_dim, kind.axes, head_constraint(), saved));
  if (b.model.attention_bias)
    head = b.add_bias(head, "self_attention/" + kind.name + "/bias", {kind.axes[1], kind.axes[2]});
  return kind.normed ? add_head_norm(b, head, kind) : head;
}

/// One of three slices of the joint projection.
TensorId take_slice(BlockBuilder& b, TensorId joint, const Head& kind) {
  const Dims all = b.dims(joint);
  const TensorId slice =
      b.activation(kind.name, {all[0], all[1], all[3], all[4]}, head_constraint(), {kind.name + "_proj"});
  return b.apply(OpKind::add, "self_attention/" + kind.name, {joint}, slice);
}

Heads add_fused_heads(BlockBuilder& b, TensorId x) {
  const Model& m = b.model;
  const Dims tokens = b.dims(x);
  const TensorDim three{Dim::qkv, 3}, heads{Dim::q_heads, m.q_heads}, head_dim{Dim::head_dim, m.head_dim};
  const TensorId w = b.weight("self_attention/qkv_proj", {tokens[2], three, heads, head_dim},
                              {"embed", "qkv", "heads", "kv"});
  TensorId joint = b.apply(OpKind::einsum, "self_attention/qkv_proj", {x, w},
                           b.activation("joint projection", {tokens[0], tokens[1], three, heads, head_dim}, {},
                                        {"qkv_proj"}));
  if (m.attention_bias) joint = b.add_bias(joint, "self_attention/qkv_proj/bias", {"qkv", "heads", "kv"});
  return {take_slice(b, joint, query_head(m)), take_slice(b, joint, key_head(m)), take_slice(b, joint, value_head(m))};
}

/// One of the three runs of heads in the joint projection, cut inside a shard_map.
TensorId take_heads(BlockBuilder& b, TensorId joint, const Head& kind) {
  const Dims all = b.dims(joint);
  const TensorId run = b.activation(kind.name, {all[0], all[1], kind.heads, all[3]}, head_constraint());
  return b.apply(OpKind::add, "self_attention/" + kind.name, {joint}, run);
}

Heads add_joined_heads(BlockBuilder& b, TensorId x) {
  const Model& m = b.model;
  const TensorDim heads{Dim::q_heads, m.q_heads + 2 * m.kv_heads};
  TensorId joint = as_projection(b, project_onto_heads(b, x, "qkv_proj", heads, {Dim::head_dim, m.head_dim},
                                                       {"embed", "heads", "kv"}, {}, {"qkv_proj"}));
  if (m.attention_bias) joint = b.add_bias(joint, "self_attention/qkv_proj/bias", {"heads", "kv"});
  joint = b.constrain("joint projection", joint, head_constraint());
  Heads taken{take_heads(b, joint, query_head(m)), take_heads(b, joint, key_head(m)), take_heads(b, joint, value_head(m))};
  if (m.use_qk_norm) {
    taken.query = add_head_norm(b, taken.query, query_head(m));
    taken.key = add_head_norm(b, taken.key, key_head(m));
  }
  return taken;
}

Heads add_separate_heads(BlockBuilder& b, TensorId x) {
  Heads heads{};
  heads.query = add_head(b, x, query_head(b.model));
  heads.key = add_head(b, x, key_head(b.model));
  heads.value = add_head(b, x, value_head(b.model));
  return heads;
}

Heads heads_of(BlockBuilder& b, TensorId x) {
  if (!b.model.fused_qkv) return add_separate_heads(b, x);
  return b.model.decoder_block.fuses_in_thirds ? add_fused_heads(b, x) : add_joined_heads(b, x);
}

}  // namespace

TensorId add_grouped_query_attention(BlockBuilder& b, TensorId x, std::int64_t window) {
  const Model& m = b.model;
  b.module = Module::attention;
  const TensorId in = constrain_attention_input(
      b, x, {{"activation_batch_attn", "activation_input_length_attn", "activation_embed_attn"}});
  const Heads heads = heads_of(b, in);
  const Dims tokens = b.dims(x);
  return add_output_projection(
      b, add_attention_kernel(b, heads,
                              {tokens[0], tokens[1], {Dim::q_heads, m.q_heads}, {Dim::value_dim, m.head_dim}}, window));
}

}  // namespace shardplan
