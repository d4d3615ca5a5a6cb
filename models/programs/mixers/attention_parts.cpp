// Logical axes: SHARDING.md 2.1 and 2.2.
#include <models/programs/mixers/attention_parts.hpp>

namespace shardplan {
namespace {

/// A model that learns positions rotates nothing.
Rotation rotation_of(const Model& model) {
  if (model.trainable_position_size > 0) return Rotation::none;
  return model.interleaved_rotation ? Rotation::interleaved : Rotation::halves;
}

}  // namespace

TensorId add_sink(BlockBuilder& b, TensorId query) {
  const Dims same = b.dims(query);
  const TensorId sinks = b.bias("self_attention/sinks", {same[2]}, {""});
  const TensorId out = b.activation("query with sink", same, b.block.tensors[query].constraint);
  return b.apply(OpKind::add, "self_attention/sinks", {query, sinks}, out);
}

Constraint head_constraint() {
  return {{"activation_kv_batch", "activation_length_attn", "activation_kv_heads", "activation_kv_head_dim"}};
}

TensorId as_projection(BlockBuilder& b, TensorId head) {
  b.block.operations.back().role = OperationRole::qkv_projection;
  return head;
}

TensorId constrain_attention_input(BlockBuilder& b, TensorId x, Constraint constraint) {
  const TensorId in = b.constrain("attention input", x, std::move(constraint));
  b.block.tensors[in].role = TensorRole::attention_input;
  return in;
}

TensorId project_onto_heads(BlockBuilder& b, TensorId x, const std::string& name, TensorDim heads, TensorDim head_dim,
                            LogicalAxes weight_axes, Constraint constraint, std::vector<std::string> checkpoint_names) {
  const TensorDim in = b.dims(x).back();
  const TensorId w = b.weight("self_attention/" + name, {in, heads, head_dim}, std::move(weight_axes));
  const Dims& tokens = b.dims(x);
  const TensorId out =
      b.activation(name, {tokens[0], tokens[1], heads, head_dim}, std::move(constraint), std::move(checkpoint_names));
  return b.apply(OpKind::einsum, "self_attention/" + name, {x, w}, out);
}

std::vector<std::string> context_names(const TrainConfig& config) {
  return config.attention == AttentionKernel::dot_product ? std::vector<std::string>{} : std::vector<std::string>{"context"};
}

TensorId add_attention_kernel(BlockBuilder& b, const Heads& heads, Dims context_dims, AttentionWindow window,
                              bool rotates) {
  const Constraint query_side{{"activation_batch_attn", "activation_length", "activation_heads", "activation_kv"}};
  // Inside of a kernel's shard_map the sequence moves as the strategy says; dot_product has none.
  const bool moves = b.config.context_parallel_strategy != ContextStrategy::all_gather &&
                     b.config.attention != AttentionKernel::dot_product;
  const Constraint key_side{{"activation_batch_attn", moves ? "activation_length" : "activation_kv_length",
                             "activation_heads", "activation_kv"}};
  const TensorId query = b.model.attention_sink ? add_sink(b, heads.query) : heads.query;
  const TensorId q = b.constrain("attention query", query, query_side);
  const TensorId k = b.constrain("attention key", heads.key, key_side);
  const TensorId v = b.constrain("attention value", heads.value, key_side);
  const TensorId context = b.activation(
      "context", std::move(context_dims),
      {{"activation_batch_attn", "activation_length_attn", "activation_heads", "activation_kv"}}, context_names(b.config));
  TensorIds inputs = {q, k, v};
  if (heads.mask >= 0) inputs.push_back(heads.mask);
  b.apply(OpKind::attention, "self_attention/attention_op", std::move(inputs), context);
  b.block.operations.back().attention_window = window;
  b.block.operations.back().caps_scores = b.model.caps_scores && b.model.decoder_block.caps_scores;
  b.block.operations.back().wide_scores = b.model.decoder_block.wide_global_scores && window.tokens == 0;
  b.block.operations.back().keeps_for_itself = b.config.attention == AttentionKernel::cudnn_flash_jax;
  b.block.operations.back().rotation = rotates ? rotation_of(b.model) : Rotation::none;
  if (heads.mask >= 0) b.block.operations.back().selected_keys = b.model.indexer_topk;
  return context;
}

TensorId add_output_projection(BlockBuilder& b, TensorId context, TensorDim width) {
  const Dims c = b.dims(context);
  const TensorId w = b.weight("self_attention/out", {c[2], c[3], width}, {"heads", "kv", "embed"});
  const TensorId out = b.activation("attention output", {c[0], c[1], width}, b.hidden(), {"out_proj"});
  b.apply(OpKind::einsum, "self_attention/out", {context, w}, out);
  return b.model.attention_bias && b.model.decoder_block.attention_output_bias
             ? b.add_bias(out, "self_attention/out/bias", {"embed"})
             : out;
}

TensorId add_output_projection(BlockBuilder& b, TensorId context) {
  return add_output_projection(b, context, {Dim::embed, b.model.emb});
}

}  // namespace shardplan
