// Grouped-query and multi-head latent attention. Logical axes: SHARDING.md 2.1 and 2.2.
#include <models/programs/block_builder.hpp>

namespace shardplan {
namespace {

struct Heads {
  TensorId query, key, value;
};

/// The kernel's own constraints: queries keep their split of the sequence, keys and values are whole along it.
TensorId add_kernel(BlockBuilder& b, const Heads& heads, Dims context_dims, std::int64_t window) {
  const Constraint query_side{{"activation_batch_attn", "activation_length", "activation_heads", "activation_kv"}};
  const Constraint key_side{{"activation_batch_attn", "activation_kv_length", "activation_heads", "activation_kv"}};
  const TensorId q = b.constrain("attention query", heads.query, query_side);
  const TensorId k = b.constrain("attention key", heads.key, key_side);
  const TensorId v = b.constrain("attention value", heads.value, key_side);
  const TensorId context = b.activation(
      "context", std::move(context_dims),
      {{"activation_batch_attn", "activation_length_attn", "activation_heads", "activation_kv"}}, {"context"});
  b.apply(OpKind::attention, "self_attention/attention_op", {q, k, v}, context);
  b.block.operations.back().attention_window = window;
  return context;
}

TensorId project(BlockBuilder& b, TensorId x, const std::string& name, TensorDim heads, TensorDim head_dim,
                 LogicalAxes weight_axes, Constraint constraint, std::vector<std::string> checkpoint_names) {
  const TensorDim in = b.dims(x).back();
  const TensorId w = b.weight("self_attention/" + name, {in, heads, head_dim}, std::move(weight_axes));
  const Dims& tokens = b.dims(x);
  const TensorId out =
      b.activation(name, {tokens[0], tokens[1], heads, head_dim}, std::move(constraint), std::move(checkpoint_names));
  return b.apply(OpKind::einsum, "self_attention/" + name, {x, w}, out);
}

/// Query, key or value: compilers merge what makes them of one operand.
TensorId as_projection(BlockBuilder& b, TensorId head) {
  b.block.operations.back().role = OperationRole::qkv_projection;
  return head;
}

TensorId add_bias(BlockBuilder& b, TensorId x, const std::string& name, LogicalAxes axes) {
  const Dims same = b.dims(x);
  Dims trailing(same.end() - static_cast<std::ptrdiff_t>(axes.size()), same.end());
  const TensorId bias = b.weight(name, std::move(trailing), std::move(axes));
  b.block.tensors[bias].role = TensorRole::bias;
  const Constraint constraint = b.block.tensors[x].constraint;
  const auto names = b.block.tensors[x].checkpoint_names;
  return b.apply(OpKind::add, name, {x, bias}, b.activation(name + " output", same, constraint, names));
}

TensorId add_output_projection(BlockBuilder& b, TensorId context) {
  const Dims& c = b.dims(context);
  const TensorId w = b.weight("self_attention/out", {c[2], c[3], {Dim::embed, b.model.emb}}, {"heads", "kv", "embed"});
  const TensorId out = b.activation("attention output", b.hidden_dims(), b.hidden(), {"out_proj"});
  b.apply(OpKind::einsum, "self_attention/out", {context, w}, out);
  return b.model.attention_bias && b.model.decoder_block.attention_output_bias
             ? add_bias(b, out, "self_attention/out/bias", {"norm"})
             : out;
}

/// One of query, key, value of GQA, with its bias and norm where the model has them.
TensorId add_gqa_head(BlockBuilder& b, TensorId x, const std::string& name, TensorDim heads, bool normed) {
  const Constraint split{
      {"activation_kv_batch", "activation_length_attn", "activation_kv_heads", "activation_kv_head_dim"}};
  const bool query = name == "query";
  const LogicalAxes axes =
      query ? LogicalAxes{"embed", "q_heads", "kv"} : LogicalAxes{"embed", "kv_heads", "kv_head_dim"};
  const std::vector<std::string> saved = {name + "_proj"};
  const TensorDim head_dim{Dim::head_dim, b.model.head_dim};
  TensorId head = as_projection(
      b, project(b, x, name, heads, head_dim, axes, split, normed ? std::vector<std::string>{} : saved));
  if (b.model.attention_bias) head = add_bias(b, head, "self_attention/" + name + "/bias", {axes[1], axes[2]});
  return normed ? b.norm("self_attention/" + name + "_norm", head, split, saved) : head;
}

}  // namespace

TensorId add_gqa(BlockBuilder& b, TensorId x, std::int64_t window) {
  const Model& m = b.model;
  const TensorId in = b.constrain("attention input", x,
                                  {{"activation_batch_attn", "activation_input_length_attn", "activation_embed_attn"}});
  b.block.tensors[in].role = TensorRole::attention_input;
  Heads heads{};
  heads.query = add_gqa_head(b, in, "query", {Dim::q_heads, m.q_heads}, m.use_qk_norm);
  heads.key = add_gqa_head(b, in, "key", {Dim::kv_heads, m.kv_heads}, m.use_qk_norm);
  heads.value = add_gqa_head(b, in, "value", {Dim::kv_heads, m.kv_heads}, false);
  const Dims& tokens = b.dims(x);
  return add_output_projection(
      b, add_kernel(b, heads, {tokens[0], tokens[1], {Dim::q_heads, m.q_heads}, {Dim::value_dim, m.head_dim}}, window));
}

TensorId add_mla(BlockBuilder& b, TensorId x) {
  const Model& m = b.model;
  const TensorDim batch{Dim::batch, b.sizes.batch}, sequence{Dim::sequence, b.sizes.sequence};
  const TensorDim heads{Dim::q_heads, m.q_heads}, qk{Dim::head_dim, m.qk_nope_head_dim + m.qk_rope_head_dim};
  const TensorDim embed{Dim::embed, m.emb}, value_dim{Dim::value_dim, m.v_head_dim};
  const Constraint split{{"activation_kv_batch", "activation_length", "activation_kv_heads", "activation_kv_head_dim"}};
  const TensorId in =
      b.constrain("attention input", x, {{"activation_batch_attn", "activation_length", "activation_embed"}});
  b.block.tensors[in].role = TensorRole::attention_input;

  Heads h{};
  if (m.q_lora_rank == 0) {
    h.query =
        as_projection(b, project(b, in, "query", heads, qk, {"embed", "q_heads", "kv"}, split, {"query_proj"}));
  } else {
    const TensorDim rank{Dim::q_rank, m.q_lora_rank};
    const TensorId wq_a = b.weight("self_attention/wq_a", {embed, rank}, {"embed", "q_lora_up_proj"});
    const TensorId low = b.apply(OpKind::einsum, "self_attention/wq_a", {in, wq_a},
                                 b.activation("query low rank", {batch, sequence, rank}, {}, {"query_wa_proj"}));
    const TensorId normed = b.norm("self_attention/q_norm", low, {}, {"mla_q"});
    h.query = project(b, normed, "wq_b", heads, qk, {"q_lora", "q_heads", "kv"}, split, {"query_proj"});
  }

  const TensorDim joint{Dim::kv_rank, m.kv_lora_rank + m.qk_rope_head_dim}, rank{Dim::kv_rank, m.kv_lora_rank};
  const TensorId wkv_a = b.weight("self_attention/wkv_a", {embed, joint}, {"embed", "kv_lora_up_proj"});
  const TensorId low = b.apply(OpKind::einsum, "self_attention/wkv_a", {in, wkv_a},
                               b.activation("key value low rank", {batch, sequence, joint}, {}, {"kv_wa_proj"}));
  const TensorId latent = b.apply(OpKind::add, "self_attention/split_rope", {low},
                                  b.activation("key value latent", {batch, sequence, rank}));
  const TensorId normed = b.norm("self_attention/kv_norm", latent, {}, {"mla_kv"});
  const TensorDim kv{Dim::head_dim, m.qk_nope_head_dim + m.v_head_dim};
  const TensorId expanded = project(b, normed, "wkv_b", heads, kv, {"kv_lora", "kv_heads", "kv_head_dim"}, split, {});
  h.key = as_projection(b, b.apply(OpKind::add, "self_attention/key", {expanded, low},
                                   b.activation("key", {batch, sequence, heads, qk}, split, {"key_proj"})));
  h.value = as_projection(b, b.apply(OpKind::add, "self_attention/value", {expanded},
                                     b.activation("value", {batch, sequence, heads, value_dim}, split, {"value_proj"})));
  return add_output_projection(b, add_kernel(b, h, {batch, sequence, heads, value_dim}, 0));
}

}  // namespace shardplan
