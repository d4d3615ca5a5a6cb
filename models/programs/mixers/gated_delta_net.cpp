// Gated delta net (MaxText models/qwen3.py: Qwen3NextGatedDeltaNet): linear attention. A short causal convolution mixes
// neighbouring tokens; then each value head carries a state [key dim, value dim] along the sequence, which a token
// decays, corrects and reads. A group of value heads shares a key head's queries and keys.
#include <models/programs/mixers/mixers.hpp>

namespace shardplan {
namespace {

TensorDim key_heads(const Model& m) { return {Dim::kv_heads, m.gdn_num_key_heads}; }
TensorDim value_heads(const Model& m) { return {Dim::kv_heads, m.gdn_num_value_heads}; }

/// Of all value heads that share a key head.
std::int64_t value_width(const Model& m) { return m.gdn_num_value_heads * m.gdn_value_head_dim / m.gdn_num_key_heads; }

/// Sequences stay whole: the state passes from token to token.
Constraint delta_head_constraint() { return {{"activation_kv_batch", "", "activation_kv_heads", ""}}; }

/// x·w with w [embed, heads, width], which MaxText stores as [embed, heads·width].
TensorId project(BlockBuilder& b, TensorId x, const std::string& name, TensorDim heads, TensorDim width,
                 Constraint constraint) {
  const Dims tokens = b.dims(x);
  const TensorId w = b.weight("attention/" + name, {tokens[2], heads, width}, {"embed", "gdn_head", ""});
  return b.apply(OpKind::einsum, "attention/" + name, {x, w},
                 b.activation(name, {tokens[0], tokens[1], heads, width}, std::move(constraint)));
}

/// A part of `whole`, a number of heads of `width`.
TensorId take(BlockBuilder& b, TensorId whole, const std::string& name, TensorDim heads, TensorDim width) {
  const Dims all = b.dims(whole);
  return b.apply(OpKind::add, "attention/" + name, {whole},
                 b.activation(name, {all[0], all[1], heads, width}, delta_head_constraint()));
}

/// Queries, keys and values, each channel for itself; nnx.Conv's kernel has no logical axes.
TensorId add_convolution(BlockBuilder& b, TensorId mixed) {
  const Model& m = b.model;
  const TensorDim width{Dim::head_dim, 2 * m.gdn_key_head_dim + value_width(m)};
  const TensorId in = take(b, mixed, "convolution input", key_heads(m), width);
  const TensorId kernel =
      b.weight("attention/conv1d", {{Dim::taps, m.gdn_conv_kernel_dim}, key_heads(m), width}, {"", "", ""});
  return b.apply(OpKind::elementwise, "attention/conv1d", {in, kernel},
                 b.activation("convolved", b.dims(in), delta_head_constraint()));
}

/// Two numbers a token and value head: how much of the state stays and how much of the new value is written.
TensorId add_gates(BlockBuilder& b, TensorId x) {
  const TensorDim heads = value_heads(b.model);
  const TensorId logits = project(b, x, "in_proj_ba", heads, {Dim::gate, 2}, {});
  const TensorId decay = b.bias("attention/A_log", {heads}, {""}), bias = b.bias("attention/dt_bias", {heads}, {""});
  return b.apply(OpKind::elementwise, "attention/gates", {logits, decay, bias},
                 b.activation("gates", b.dims(logits)));
}

TensorId add_delta_rule(BlockBuilder& b, TensorId convolved, TensorId gates) {
  const Model& m = b.model;
  const TensorDim key_dim{Dim::head_dim, m.gdn_key_head_dim}, value_dim{Dim::value_dim, m.gdn_value_head_dim};
  const TensorId query = take(b, convolved, "query", value_heads(m), key_dim);
  const TensorId key = take(b, convolved, "key", value_heads(m), key_dim);
  const TensorId value = take(b, convolved, "value", value_heads(m), value_dim);
  const TensorId read = b.apply(OpKind::delta_rule, "attention/delta_rule", {query, key, value, gates},
                                b.activation("context", b.dims(value), delta_head_constraint()));
  b.block.operations.back().chunk = m.gdn_chunk_size;
  return read;
}

}  // namespace

TensorId add_gated_delta_net(BlockBuilder& b, TensorId x) {
  const Model& m = b.model;
  b.module = Module::attention;
  b.gives_quantization = false;
  const TensorDim value_dim{Dim::value_dim, m.gdn_value_head_dim};
  const TensorId mixed =
      project(b, x, "in_proj_qkvz", key_heads(m), {Dim::head_dim, 2 * m.gdn_key_head_dim + 2 * value_width(m)},
              delta_head_constraint());
  const TensorId gates = add_gates(b, x);
  const TensorId context = add_delta_rule(b, add_convolution(b, mixed), gates);
  const TensorId normed = b.norm("attention/norm", context, {});
  const TensorId scale = take(b, mixed, "output gate", value_heads(m), value_dim);
  const TensorId gated = b.apply(OpKind::elementwise, "attention/output_gate", {normed, scale},
                                 b.activation("gated context", b.dims(context)));
  const TensorId w = b.weight("attention/out_proj", {value_heads(m), value_dim, {Dim::embed, m.emb}},
                              {"gdn_head", "", "embed"});
  const TensorId out = b.apply(OpKind::einsum, "attention/out_proj", {gated, w},
                               b.activation("attention output", b.hidden_dims(), b.hidden()));
  b.gives_quantization = true;
  return out;
}

}  // namespace shardplan
