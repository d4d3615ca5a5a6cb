#include <models/programs/layer_kinds.hpp>
#include <models/programs/mixers/mixers.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

Mixer attention_of(const Model& model, std::int64_t window) {
  switch (model.attention_type) {
    case AttentionType::global:
      if (model.decoder_block.gated_attention) return add_gated_attention;
      return [window](BlockBuilder& b, TensorId x) { return add_grouped_query_attention(b, x, window); };
    case AttentionType::mla:
      return add_latent_attention;
    case AttentionType::compressed:
      break;  // not modelled, and train_program has said so
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

std::vector<Branch> branches_of(const Model& model, FeedForward feed_forward, std::int64_t window) {
  const auto if_set = [](bool set, const char* name) { return set ? std::string(name) : std::string(); };
  return {{attention_of(model, window), if_set(model.use_pre_norm, "pre_self_attention_layer_norm"),
           if_set(model.use_post_attn_norm, "post_self_attention_norm"), "residual after attention"},
          {feed_forward_of(feed_forward), if_set(model.use_pre_norm, "post_self_attention_layer_norm"),
           if_set(model.use_post_ffw_norm, "post_ffw_norm"), "layer output"}};
}

/// `count` layers that differ in their window alone.
std::vector<LayerKind> with_windows(const Model& model, const std::string& name, FeedForward feed_forward,
                                    std::int64_t count) {
  const auto& [window, locals] = model.attention_pattern;
  const std::vector<Branch> global = branches_of(model, feed_forward, 0);
  if (window <= 0) return {{name, global, count}};
  const std::int64_t globals = count / (locals + 1);
  return {{name + "_local", branches_of(model, feed_forward, window), count - globals, locals},
          {name + "_global", global, globals, 1, count > globals}};
}

/// Cycles of linear layers that end with one of full attention (MaxText models/qwen3.py: Qwen3NextDecoderLayer).
std::vector<LayerKind> with_delta_nets(const Model& model) {
  std::vector<Branch> full = branches_of(model, FeedForward::experts, 0);
  std::vector<Branch> linear = full;
  linear.front().mix = add_gated_delta_net;
  const std::int64_t globals = model.layers / model.cycle_interval;
  return {{"linear_layers", std::move(linear), model.layers - globals, model.cycle_interval - 1},
          {"full_layers", std::move(full), globals, 1, true}};
}

}  // namespace

std::vector<LayerKind> layer_kinds(const Model& model) {
  if (model.decoder_block.gated_delta_net) return with_delta_nets(model);
  const std::int64_t dense = model.dense_layers() * model.sublayers_per_layer;
  const std::int64_t moe = model.moe_layers() * model.sublayers_per_layer;
  const bool mixed = dense > 0 && moe > 0;
  std::vector<LayerKind> kinds = with_windows(model, mixed ? "dense_layers" : "layers", FeedForward::dense, dense);
  for (auto& kind : kinds) kind.before_pipeline = mixed && model.decoder_block.dense_layers_before_pipeline;
  for (auto& kind : with_windows(model, mixed ? "moe_layers" : "layers", FeedForward::experts, moe))
    kinds.push_back(std::move(kind));
  std::erase_if(kinds, [](const LayerKind& kind) { return kind.count == 0; });
  return kinds;
}

}  // namespace shardplan
