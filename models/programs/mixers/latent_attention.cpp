// Multi-head latent attention (DeepSeek): queries, and keys with values, come from low-rank projections.
#include <models/programs/mixers/attention_parts.hpp>
#include <models/programs/mixers/indexer.hpp>
#include <models/programs/mixers/mixers.hpp>

namespace shardplan {
namespace {

Constraint latent_head_constraint() {
  return {{"activation_kv_batch", "activation_length", "activation_kv_heads", "activation_kv_head_dim"}};
}

/// No constraint of MaxText's: low ranks take their features' split from the scale of the norm that reads them, forward
/// through it and back to the product that makes them (recorded: deepseek2 under tensor=2, 4 and 16).
Constraint as_norm_scale() { return {{"activation_batch_attn", "activation_length", "norm"}}; }

TensorDim query_heads(const BlockBuilder& b) { return {Dim::q_heads, b.model.q_heads}; }

TensorDim query_dim(const BlockBuilder& b) {
  return {Dim::head_dim, b.model.qk_nope_head_dim + b.model.qk_rope_head_dim};
}

struct Query {
  TensorId heads = -1;
  TensorId low_rank = -1;  ///< what the heads are projected from; -1: the hidden state itself
};

Query add_query(BlockBuilder& b, TensorId in) {
  const Model& m = b.model;
  const Dims tokens = b.dims(in);
  if (m.q_lora_rank == 0)
    return {as_projection(b, project_onto_heads(b, in, "query", query_heads(b), query_dim(b),
                                                {"embed", "q_heads", "kv"}, latent_head_constraint(), {"query_proj"}))};
  const TensorDim rank{Dim::q_rank, m.q_lora_rank};
  const TensorId wq_a = b.weight("self_attention/wq_a", {{Dim::embed, m.emb}, rank}, {"embed", "q_lora_up_proj"});
  const TensorId low = b.apply(OpKind::einsum, "self_attention/wq_a", {in, wq_a},
                               b.activation("query low rank", {tokens[0], tokens[1], rank}, as_norm_scale(),
                                            {"query_wa_proj"}));
  const TensorId normed = b.norm("self_attention/q_norm", low, as_norm_scale(), {"mla_q"});
  return {project_onto_heads(b, normed, "wq_b", query_heads(b), query_dim(b), {"q_lora", "q_heads", "kv"},
                             latent_head_constraint(), {"query_proj"}),
          normed};
}

/// The part of the low rank that all heads share by rotation goes past the norm into every key.
Heads add_key_and_value(BlockBuilder& b, TensorId in) {
  const Model& m = b.model;
  const TensorDim batch = b.dims(in)[0], sequence = b.dims(in)[1], value_dim{Dim::value_dim, m.v_head_dim};
  const TensorDim joint{Dim::kv_rank, m.kv_lora_rank + m.qk_rope_head_dim}, rank{Dim::kv_rank, m.kv_lora_rank};
  const TensorId wkv_a = b.weight("self_attention/wkv_a", {{Dim::embed, m.emb}, joint}, {"embed", "kv_lora_up_proj"});
  const TensorId low = b.apply(OpKind::einsum, "self_attention/wkv_a", {in, wkv_a},
                               b.activation("key value low rank", {batch, sequence, joint}, as_norm_scale(),
                                            {"kv_wa_proj"}));
  const TensorId latent = b.apply(OpKind::add, "self_attention/split_latent", {low},
                                  b.activation("key value latent", {batch, sequence, rank}, as_norm_scale()));
  const TensorDim rope_dim{Dim::kv_rank, m.qk_rope_head_dim};
  const TensorId rope = b.apply(OpKind::add, "self_attention/split_rope", {low},
                                b.activation("key rope", {batch, sequence, rope_dim}, as_norm_scale()));
  const TensorId normed = b.norm("self_attention/kv_norm", latent, as_norm_scale(), {"mla_kv"});
  const TensorDim kv{Dim::head_dim, m.qk_nope_head_dim + m.v_head_dim};
  const TensorId expanded = project_onto_heads(b, normed, "wkv_b", query_heads(b), kv,
                                               {"kv_lora", "kv_heads", "kv_head_dim"}, latent_head_constraint(), {});
  Heads h{};
  const TensorId key =
      b.activation("key", {batch, sequence, query_heads(b), query_dim(b)}, latent_head_constraint(), {"key_proj"});
  h.key = as_projection(b, b.apply(OpKind::add, "self_attention/key", {expanded, rope}, key));
  const TensorId value =
      b.activation("value", {batch, sequence, query_heads(b), value_dim}, latent_head_constraint(), {"value_proj"});
  h.value = as_projection(b, b.apply(OpKind::add, "self_attention/value", {expanded}, value));
  return h;
}

}  // namespace

TensorId add_latent_attention(BlockBuilder& b, TensorId x) {
  b.module = Module::attention;
  const TensorId in =
      constrain_attention_input(b, x, {{"activation_batch_attn", "activation_length", "activation_embed"}});
  const Query query = add_query(b, in);
  Heads heads = add_key_and_value(b, in);
  heads.query = query.heads;
  if (b.model.use_indexer) heads.mask = add_indexer(b, in, query.low_rank);
  const Dims tokens = b.dims(in);
  const TensorId context = add_attention_kernel(
      b, heads, {tokens[0], tokens[1], query_heads(b), {Dim::value_dim, b.model.v_head_dim}}, {});
  b.block.operations.back().looks_up_rotation = b.config.packing && b.model.yarn_rotation;
  return add_output_projection(b, context);
}

}  // namespace shardplan
