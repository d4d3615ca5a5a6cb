// Compressed attention (MaxText layers/attention_compressed.py, DeepSeek 4): queries from a low rank, one head that is key
// and value at once, a window; beside the window pooled keys, each of a run of tokens. Of short runs (4) an indexer picks
// those that a query attends to. Heads leave in groups, each through a projection of its own.
#include <models/programs/mixers/attention_parts.hpp>
#include <models/programs/mixers/mixers.hpp>
#include <models/programs/mixers/pooled_keys.hpp>

namespace shardplan {
namespace {

constexpr std::int64_t picked_run = 4;  // attention_compressed.py: compress_ratio == 4 has the indexer

TensorId add_low_rank_query(BlockBuilder& b, TensorId x) {
  const Dims tokens = b.dims(x);
  const TensorDim rank{Dim::q_rank, b.model.q_lora_rank};
  const TensorId w = b.weight("self_attention/wq_a", {tokens[2], rank}, {"embed", "q_lora"});
  const TensorId low = b.apply(OpKind::einsum, "self_attention/wq_a", {x, w},
                               b.activation("query low rank", {tokens[0], tokens[1], rank}));
  return b.norm("self_attention/q_norm", low, {});
}

/// Normed without a scale.
TensorId add_query(BlockBuilder& b, TensorId low_rank) {
  const TensorId heads = as_projection(
      b, project_onto_heads(b, low_rank, "wq_b", {Dim::q_heads, b.model.q_heads}, {Dim::head_dim, b.model.head_dim},
                            {"q_lora", "q_heads", "kv"}, {}, {}));
  return b.apply(OpKind::elementwise, "self_attention/q_up_norm", {heads},
                 b.activation("query", b.dims(heads), {}, {"query_proj"}));
}

TensorId add_key(BlockBuilder& b, TensorId x) {
  const TensorId heads = as_projection(
      b, project_onto_heads(b, x, "wkv", {Dim::kv_heads, b.model.kv_heads}, {Dim::head_dim, b.model.head_dim},
                            {"embed", "kv_heads", "kv_head_dim"}, {}, {}));
  return b.norm("self_attention/kv_norm", heads, {}, {"kv_proj"});
}

/// The sequence's own keys, then the pooled ones.
TensorId join_keys(BlockBuilder& b, TensorId own, TensorId pooled) {
  Dims all = b.dims(own);
  all[1].size += b.dims(pooled)[1].size;
  return b.apply(OpKind::add, "self_attention/join_keys", {own, pooled}, b.activation("joined keys", std::move(all)));
}

TensorId add_kernel(BlockBuilder& b, TensorId query, TensorId keys, TensorId mask) {
  const Constraint query_side{{"activation_batch_attn", "activation_length", "activation_heads", "activation_kv"}};
  const Constraint key_side{{"activation_batch_attn", "activation_kv_length", "activation_heads", "activation_kv"}};
  const TensorId q = b.constrain("attention query", add_sink(b, query), query_side);
  const TensorId k = b.constrain("attention key", keys, key_side), v = b.constrain("attention value", keys, key_side);
  const Dims tokens = b.dims(query);
  const TensorId context =
      b.activation("context", {tokens[0], tokens[1], tokens[2], {Dim::value_dim, b.model.head_dim}},
                   {{"activation_batch_attn", "activation_length_attn", "activation_heads", "activation_kv"}},
                   context_names(b.config));
  TensorIds inputs = {q, k, v};
  if (mask >= 0) inputs.push_back(mask);
  b.apply(OpKind::attention, "self_attention/attention_op", std::move(inputs), context);
  Operation& kernel = b.block.operations.back();
  kernel.attention_window = {b.model.attention_pattern.window};
  kernel.rotation = Rotation::interleaved;
  kernel.pooled_keys = b.dims(keys)[1].size - tokens[1].size;
  return context;
}

/// Turned back, then group by group to `o_lora_rank`, then all groups to the hidden state's width.
TensorId add_grouped_output(BlockBuilder& b, TensorId context) {
  const Model& m = b.model;
  const Dims c = b.dims(context);
  const TensorDim groups{Dim::groups, m.o_groups}, width{Dim::head_dim, m.q_heads * m.head_dim / m.o_groups};
  const TensorDim rank{Dim::kv_rank, m.o_lora_rank}, all{Dim::mlp, m.o_groups * m.o_lora_rank};
  const TensorId grouped = b.apply(OpKind::add, "self_attention/groups", {context},
                                   b.activation("context by groups", {c[0], c[1], groups, width}, {}, {"attention_out"}));
  const TensorId inner =
      b.weight("self_attention/o_a_proj", {groups, width, rank}, {"o_groups", "q_heads", "o_lora_up_proj"});
  const TensorId low = b.apply(OpKind::einsum, "self_attention/o_a_proj", {grouped, inner},
                               b.activation("output low rank", {c[0], c[1], groups, rank}));
  const TensorId flat = b.apply(OpKind::add, "self_attention/flatten_groups", {low},
                                b.activation("output ranks", {c[0], c[1], all}));
  const TensorDim embed{Dim::embed, m.emb};
  const TensorId w = b.weight("self_attention/o_b_proj", {all, embed}, {"o_lora_up_proj", "embed"});
  return b.apply(OpKind::einsum, "self_attention/o_b_proj", {flat, w},
                 b.activation("attention output", {c[0], c[1], embed}, b.hidden(), {"out_proj"}));
}

}  // namespace

TensorId add_compressed_attention(BlockBuilder& b, TensorId x, std::int64_t ratio) {
  b.module = Module::attention;
  const TensorId low_rank = add_low_rank_query(b, x);
  const TensorId query = add_query(b, low_rank), own = add_key(b, x);
  if (ratio == 0) return add_grouped_output(b, add_kernel(b, query, own, -1));
  const bool picks = ratio == picked_run;
  const TensorId mask = picks ? add_picked_keys(b, x, low_rank, ratio) : add_all_pooled_keys_mask(b, x, ratio);
  const TensorId pooled = add_pooled_keys(b, x, ratio, picks ? 2 : 1);
  return add_grouped_output(b, add_kernel(b, query, join_keys(b, own, pooled), mask));
}

}  // namespace shardplan
