#include <models/programs/layers/branches.hpp>
#include <shardplan/error.hpp>

namespace shardplan {

AttentionHeads heads_of(const Model& model, Span span) {
  const DecoderBlock& block = model.decoder_block;
  AttentionHeads heads{model.kv_heads, model.head_dim};
  if (span == Span::local) {
    heads.window = {model.attention_pattern.window, block.window_shape};
    return heads;
  }
  heads.rotary = !block.l2_qk_norm;
  if (!block.global_heads) return heads;
  heads.shared_projection = model.share_kv_projections;
  if (model.global_kv_heads > 0) heads.kv_heads = model.global_kv_heads;
  if (model.global_head_dim > 0) heads.head_dim = model.global_head_dim;
  return heads;
}

namespace {

/// Qwen3CustomMoeDecoderLayer: one branch.
Branch attention_into_experts_branch(const Model& model) {
  AttentionHeads heads{model.kv_heads, model.head_dim};
  if (model.attention_output_dim != model.emb) heads.output_dim = model.attention_output_dim;
  return {[heads](BlockBuilder& b, TensorId x) { return add_attention_into_experts(b, x, heads); },
          HyperConnection::attention, "pre_self_attention_layer_norm", "", "layer output"};
}

Mixer attention_of(const Model& model, Span span) {
  switch (model.attention_type) {
    case AttentionType::global:
      if (model.decoder_block.gated_attention) return add_gated_attention;
      return [heads = heads_of(model, span)](BlockBuilder& b, TensorId x) {
        return add_grouped_query_attention(b, x, heads);
      };
    case AttentionType::mla:
      return add_latent_attention;
    case AttentionType::compressed:
      break;  // compressed_layers.cpp
  }
  throw InternalError("no mixer for this attention type");
}

Mixer feed_forward_of(FeedForward kind) {
  switch (kind) {
    case FeedForward::dense:
      return add_dense_feed_forward;
    case FeedForward::experts:
      return add_mixture_of_experts;
  }
  throw InternalError("unknown FeedForward");
}

std::string if_set(bool set, const char* name) { return set ? std::string(name) : std::string(); }

Branch attention_branch(const Model& model, Span span) {
  return {attention_of(model, span), HyperConnection::attention,
          if_set(model.use_pre_norm, "pre_self_attention_layer_norm"),
          if_set(model.use_post_attn_norm, "post_self_attention_norm"), "residual after attention"};
}

Branch feed_forward_branch(const Model& model, FeedForward feed_forward) {
  const std::string after = if_set(model.use_post_ffw_norm, "post_ffw_norm");
  if (feed_forward == FeedForward::experts && model.decoder_block.dense_beside_experts)
    return {add_experts_beside_dense, HyperConnection::feed_forward, "", after, "layer output"};
  return {feed_forward_of(feed_forward), HyperConnection::feed_forward,
          if_set(model.use_pre_norm, "post_self_attention_layer_norm"), after, "layer output"};
}

}  // namespace

std::vector<Branch> branches_of(const Model& model, FeedForward feed_forward, Span span) {
  switch (model.decoder_block.shape) {
    case LayerShape::two_branches:
      return {attention_branch(model, span), feed_forward_branch(model, feed_forward)};
    case LayerShape::attention_into_experts:
      return {attention_into_experts_branch(model)};
  }
  throw InternalError("unknown LayerShape");
}

}  // namespace shardplan
