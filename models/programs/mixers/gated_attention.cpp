// Attention whose output is gated (MaxText layers/attentions.py: is_qwen3_hybrid): the query projection is twice as wide
// and makes a gate beside each query; queries and keys are normed; the output is projected from all heads at once.
#include <models/programs/mixers/attention_parts.hpp>
#include <models/programs/mixers/mixers.hpp>

namespace shardplan {
namespace {

TensorId take(BlockBuilder& b, TensorId joint, const std::string& name, TensorDim width) {
  const Dims all = b.dims(joint);
  return b.apply(OpKind::add, "self_attention/" + name, {joint},
                 b.activation(name, {all[0], all[1], all[2], width}, head_constraint()));
}

TensorId add_key(BlockBuilder& b, TensorId x, const std::string& name, std::vector<std::string> saved) {
  const Model& m = b.model;
  return as_projection(
      b, project_onto_heads(b, x, name, {Dim::kv_heads, m.kv_heads}, {Dim::head_dim, m.head_dim},
                            {"embed", "kv_heads", "kv_head_dim"}, head_constraint(), std::move(saved)));
}

}  // namespace

TensorId add_gated_attention(BlockBuilder& b, TensorId x) {
  const Model& m = b.model;
  b.module = Module::attention;
  const TensorId in = constrain_attention_input(
      b, x, {{"activation_batch_attn", "activation_input_length_attn", "activation_embed_attn"}});
  const TensorDim heads{Dim::q_heads, m.q_heads};
  const TensorDim head_dim{Dim::head_dim, m.head_dim}, out_dim{Dim::value_dim, m.head_dim};
  const TensorId joint = as_projection(
      b, project_onto_heads(b, in, "query", heads, {Dim::head_dim, 2 * m.head_dim}, {"embed", "q_heads", "kv"},
                            head_constraint(), {}));
  const TensorId gate = take(b, joint, "gate", out_dim);
  Heads h{};
  h.query = b.norm("self_attention/query_norm", take(b, joint, "plain query", head_dim), head_constraint(),
                   {"query_proj"});
  h.key = b.norm("self_attention/key_norm", add_key(b, in, "key", {}), head_constraint(), {"key_proj"});
  h.value = add_key(b, in, "value", {"value_proj"});
  const Dims tokens = b.dims(x);
  const TensorId context = add_attention_kernel(b, h, {tokens[0], tokens[1], heads, out_dim}, {});
  const TensorId gated = b.apply(OpKind::elementwise, "self_attention/output_gate", {context, gate},
                                 b.activation("gated context", b.dims(context)));
  const TensorId w = b.weight("self_attention/out", {heads, out_dim, {Dim::embed, m.emb}}, {"mlp", "", "embed"});
  return b.apply(OpKind::einsum, "self_attention/out", {gated, w},
                 b.activation("attention output", b.hidden_dims(), b.hidden(), {"out_proj"}));
}

}  // namespace shardplan
