// Grouped-query attention. fused_qkv projects query, key and value with one weight: of three equal parts in gpt3
// (MaxText models/gpt3.py), of all heads in a row elsewhere (layers/attentions.py, qkv_projection).
#include <models/programs/mixers/attention_parts.hpp>
#include <models/programs/mixers/mixers.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

/// Queries and keys: over one head, or over all of them (olmo3: GlobalRMSNorm); llama4 after the rotation and without a
/// scale, which its unrotated layers go without; gemma4 norms values too, without a scale.
enum class HeadNorm { none, scaled, plain };

struct Head {
  std::string name;
  TensorDim heads;
  LogicalAxes axes;  ///< of its weight
  HeadNorm norm;
};

HeadNorm query_key_norm(const Model& m, const AttentionHeads& shape) {
  if (!m.use_qk_norm) return HeadNorm::none;
  if (!m.decoder_block.l2_qk_norm) return HeadNorm::scaled;
  return shape.rotary ? HeadNorm::plain : HeadNorm::none;
}

Head query_head(const Model& m, const AttentionHeads& shape) {
  return {"query", {Dim::q_heads, m.q_heads}, {"embed", "q_heads", "kv"}, query_key_norm(m, shape)};
}

Head key_head(const Model& m, const AttentionHeads& shape) {
  return {"key", {Dim::kv_heads, shape.kv_heads}, {"embed", "kv_heads", "kv_head_dim"}, query_key_norm(m, shape)};
}

Head value_head(const Model& m, const AttentionHeads& shape) {
  const HeadNorm norm = m.decoder_block.norms_values ? HeadNorm::plain : HeadNorm::none;
  return {"value", {Dim::kv_heads, shape.kv_heads}, {"embed", "kv_heads", "kv_head_dim"}, norm};
}

TensorId add_head_norm(BlockBuilder& b, TensorId head, const Head& kind) {
  const std::string name = "self_attention/" + kind.name + "_norm";
  const std::size_t scaled_dims = b.model.qk_norm_over_all_heads ? 2 : 1;
  switch (kind.norm) {
    case HeadNorm::none:
      return head;
    case HeadNorm::scaled:
      return b.norm_over(scaled_dims, name, head, head_constraint(), {kind.name + "_proj"});
    case HeadNorm::plain: {
      const Dims same = b.dims(head);
      return b.apply(OpKind::elementwise, name, {head},
                     b.activation(name + " output", same, head_constraint(), {kind.name + "_proj"}));
    }
  }
  throw InternalError("unknown HeadNorm");
}

/// Before its norm.
TensorId add_projection(BlockBuilder& b, TensorId x, const Head& kind, std::int64_t head_dim,
                        std::vector<std::string> saved) {
  const TensorId head = as_projection(b, project_onto_heads(b, x, kind.name, kind.heads, {Dim::head_dim, head_dim},
                                                            kind.axes, head_constraint(), std::move(saved)));
  return b.model.attention_bias ? b.add_bias(head, "self_attention/" + kind.name + "/bias", {kind.axes[1], kind.axes[2]})
                                : head;
}

TensorId add_head(BlockBuilder& b, TensorId x, const Head& kind, std::int64_t head_dim) {
  std::vector<std::string> saved;
  if (kind.norm == HeadNorm::none) saved.push_back(kind.name + "_proj");
  return add_head_norm(b, add_projection(b, x, kind, head_dim, std::move(saved)), kind);
}

/// One of three slices of the joint projection.
TensorId take_slice(BlockBuilder& b, TensorId joint, const Head& kind) {
  const Dims all = b.dims(joint);
  const TensorId slice =
      b.activation(kind.name, {all[0], all[1], all[3], all[4]}, head_constraint(), {kind.name + "_proj"});
  return b.apply(OpKind::add, "self_attention/" + kind.name, {joint}, slice);
}

Heads add_fused_heads(BlockBuilder& b, TensorId x, const AttentionHeads& shape) {
  const Model& m = b.model;
  const Dims tokens = b.dims(x);
  const TensorDim three{Dim::qkv, 3}, heads{Dim::q_heads, m.q_heads}, head_dim{Dim::head_dim, shape.head_dim};
  const TensorId w = b.weight("self_attention/qkv_proj", {tokens[2], three, heads, head_dim},
                              {"embed", "qkv", "heads", "kv"});
  TensorId joint = b.apply(OpKind::einsum, "self_attention/qkv_proj", {x, w},
                           b.activation("joint projection", {tokens[0], tokens[1], three, heads, head_dim}, {},
                                        {"qkv_proj"}));
  if (m.attention_bias) joint = b.add_bias(joint, "self_attention/qkv_proj/bias", {"qkv", "heads", "kv"});
  return {take_slice(b, joint, query_head(m, shape)), take_slice(b, joint, key_head(m, shape)),
          take_slice(b, joint, value_head(m, shape))};
}

/// One of the three runs of heads in the joint projection, cut inside a shard_map.
TensorId take_heads(BlockBuilder& b, TensorId joint, const Head& kind) {
  const Dims all = b.dims(joint);
  std::vector<std::string> saved;
  if (kind.norm == HeadNorm::none) saved.push_back(kind.name + "_proj");
  const TensorId run =
      b.activation(kind.name, {all[0], all[1], kind.heads, all[3]}, head_constraint(), std::move(saved));
  return b.apply(OpKind::add, "self_attention/" + kind.name, {joint}, run);
}

Heads add_joined_heads(BlockBuilder& b, TensorId x, const AttentionHeads& shape) {
  const Model& m = b.model;
  const Head query = query_head(m, shape), key = key_head(m, shape), value = value_head(m, shape);
  const TensorDim heads{Dim::q_heads, query.heads.size + key.heads.size + value.heads.size};
  TensorId joint = as_projection(b, project_onto_heads(b, x, "qkv_proj", heads, {Dim::head_dim, shape.head_dim},
                                                       {"embed", "heads", "kv"}, {}, {"qkv_proj"}));
  if (m.attention_bias) joint = b.add_bias(joint, "self_attention/qkv_proj/bias", {"heads", "kv"});
  joint = b.constrain("joint projection", joint, head_constraint());
  Heads taken{take_heads(b, joint, query), take_heads(b, joint, key), take_heads(b, joint, value)};
  taken.query = add_head_norm(b, taken.query, query);
  taken.key = add_head_norm(b, taken.key, key);
  taken.value = add_head_norm(b, taken.value, value);
  return taken;
}

/// As the lending layer hands them on: normed and rotated.
TensorId add_lent_head(BlockBuilder& b, TensorId x, const Head& kind, std::int64_t head_dim) {
  const Dims tokens = b.dims(x);
  const TensorId head = b.side_input("lent " + kind.name, {tokens[0], tokens[1], kind.heads, {Dim::head_dim, head_dim}},
                                     head_constraint());
  b.block.tensors[head].shared = true;
  return head;
}

/// Queries of their own; keys and values likewise, or lent by another layer, or one projection normed in two ways.
Heads add_separate_heads(BlockBuilder& b, TensorId x, const AttentionHeads& shape) {
  const Head key = key_head(b.model, shape), value = value_head(b.model, shape);
  Heads heads{};
  heads.query = add_head(b, x, query_head(b.model, shape), shape.head_dim);
  if (!shape.lent && shape.shared_projection) {
    const TensorId projected = add_projection(b, x, key, shape.head_dim, {});
    heads.key = add_head_norm(b, projected, key);
    heads.value = add_head_norm(b, projected, value);
    return heads;
  }
  const auto add = shape.lent ? add_lent_head : add_head;
  heads.key = add(b, x, key, shape.head_dim);
  heads.value = add(b, x, value, shape.head_dim);
  return heads;
}

Heads add_heads(BlockBuilder& b, TensorId x, const AttentionHeads& shape) {
  const bool fused = b.model.fused_qkv && !shape.lent;
  if (!fused) return add_separate_heads(b, x, shape);
  return b.model.decoder_block.fuses_in_thirds ? add_fused_heads(b, x, shape) : add_joined_heads(b, x, shape);
}

}  // namespace

TensorId add_grouped_query_attention(BlockBuilder& b, TensorId x, const AttentionHeads& shape) {
  b.module = Module::attention;
  const TensorId in = constrain_attention_input(
      b, x, {{"activation_batch_attn", "activation_input_length_attn", "activation_embed_attn"}});
  const Heads heads = add_heads(b, in, shape);
  const Dims tokens = b.dims(x);
  const Dims context{tokens[0], tokens[1], {Dim::q_heads, b.model.q_heads}, {Dim::value_dim, shape.head_dim}};
  const TensorId mixed = add_attention_kernel(b, heads, context, shape.window, shape.rotary);
  return shape.output_dim > 0 ? add_output_projection(b, mixed, {Dim::latent, shape.output_dim})
                              : add_output_projection(b, mixed);
}

}  // namespace shardplan
