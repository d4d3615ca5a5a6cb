#include <fmt/format.h>

#include <models/programs/layer_kinds.hpp>
#include <models/programs/mixers/mixers.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

enum class Span { local, global };

/// Qwen3CustomMoeDecoderLayer: one branch.
Branch attention_into_experts_branch(const Model& model) {
  AttentionHeads heads{model.kv_heads, model.head_dim};
  if (model.attention_output_dim != model.emb) heads.output_dim = model.attention_output_dim;
  return {[heads](BlockBuilder& b, TensorId x) { return add_attention_into_experts(b, x, heads); },
          "pre_self_attention_layer_norm", "", "layer output"};
}

/// Global layers of some blocks have heads of their own, and see all positions without rotating them.
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

std::string if_set(bool set, const char* name) { return set ? std::string(name) : std::string(); }

Branch attention_branch(const Model& model, Span span) {
  return {attention_of(model, span), if_set(model.use_pre_norm, "pre_self_attention_layer_norm"),
          if_set(model.use_post_attn_norm, "post_self_attention_norm"), "residual after attention"};
}

Branch feed_forward_branch(const Model& model, FeedForward feed_forward) {
  const std::string after = if_set(model.use_post_ffw_norm, "post_ffw_norm");
  if (feed_forward == FeedForward::experts && model.decoder_block.dense_beside_experts)
    return {add_experts_beside_dense, "", after, "layer output"};
  return {feed_forward_of(feed_forward), if_set(model.use_pre_norm, "post_self_attention_layer_norm"), after,
          "layer output"};
}

std::vector<Branch> branches_of(const Model& model, FeedForward feed_forward, Span span) {
  switch (model.decoder_block.shape) {
    case LayerShape::two_branches:
      return {attention_branch(model, span), feed_forward_branch(model, feed_forward)};
    case LayerShape::attention_into_experts:
      return {attention_into_experts_branch(model)};
  }
  throw InternalError("unknown LayerShape");
}

/// `count` layers that differ in their window alone.
std::vector<LayerKind> with_windows(const Model& model, const std::string& name, FeedForward feed_forward,
                                    std::int64_t count) {
  const auto& [window, locals] = model.attention_pattern;
  const std::vector<Branch> global = branches_of(model, feed_forward, Span::global);
  if (window <= 0) return {{name, global, count}};
  const std::int64_t globals = count / (locals + 1);
  return {{name + "_local", branches_of(model, feed_forward, Span::local), count - globals, locals},
          {name + "_global", global, globals, 1, count > globals}};
}

/// Cycles of linear layers that end with one of full attention (MaxText models/qwen3.py: Qwen3NextDecoderLayer).
std::vector<LayerKind> with_delta_nets(const Model& model) {
  std::vector<Branch> full = branches_of(model, FeedForward::experts, Span::global);
  std::vector<Branch> linear = full;
  linear.front().mix = add_gated_delta_net;
  const std::int64_t globals = model.layers / model.cycle_interval;
  return {{"linear_layers", std::move(linear), model.layers - globals, model.cycle_interval - 1},
          {"full_layers", std::move(full), globals, 1, true}};
}

/// Layers of two periods, windows and experts: one kind for each place in the cycle. Layer i (from 0) is global where
/// i + 1 is a multiple of the windows' period, and has experts where it is one of interleave_moe_step (models/llama4.py,
/// determine_is_nope_layer and determine_is_moe_layer; models/envy.py).
std::vector<LayerKind> interleaved(const Model& model) {
  const auto& [window, locals] = model.attention_pattern;
  std::vector<LayerKind> kinds;
  for (int i = 0; i < model.layer_period(); ++i) {
    const Span span = window > 0 && (i + 1) % (locals + 1) != 0 ? Span::local : Span::global;
    const bool experts = (i + 1) % model.interleave_moe_step == 0;
    kinds.push_back({fmt::format("{}_layers_{}", experts ? "moe" : "dense", i),
                     branches_of(model, experts ? FeedForward::experts : FeedForward::dense, span),
                     model.layers / model.layer_period(), 1, i > 0});
  }
  return kinds;
}

/// Layers that have keys of their own, and behind them those that are lent some (models/gemma4_small.py).
std::vector<Branch> small_branches(const Model& model, Span span, bool lent) {
  AttentionHeads heads = heads_of(model, span);
  heads.lent = lent;
  std::vector<Branch> branches = branches_of(model, FeedForward::dense, span);
  branches[0].mix = [heads](BlockBuilder& b, TensorId x) { return add_grouped_query_attention(b, x, heads); };
  if (lent && model.use_double_wide_mlp) branches[1].mix = add_double_wide_feed_forward;
  if (model.per_layer_dim > 0)
    branches.push_back({add_per_layer_input, "", "post_per_layer_input_norm", "residual after per-layer input"});
  return branches;
}

std::vector<LayerKind> lending_and_lent(const Model& model) {
  const std::int64_t period = model.attention_pattern.locals_per_period + 1;
  const std::int64_t own = model.layers > model.kv_shared_layers ? model.layers - model.kv_shared_layers : model.layers;
  const std::int64_t own_globals = own / period, globals = model.layers / period;
  std::vector<LayerKind> kinds = {
      {"layers_local", small_branches(model, Span::local, false), own - own_globals},
      {"layers_global", small_branches(model, Span::global, false), own_globals},
      {"lent_layers_local", small_branches(model, Span::local, true), model.layers - own - (globals - own_globals)},
      {"lent_layers_global", small_branches(model, Span::global, true), globals - own_globals}};
  std::erase_if(kinds, [](const LayerKind& kind) { return kind.count == 0; });
  return kinds;
}

std::vector<LayerKind> stacks_of(const Model& model) {
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

std::vector<LayerKind> kinds_of(const Model& model) {
  if (model.decoder_block.lends_keys) return lending_and_lent(model);
  const bool takes_turns = model.decoder_block.interleaves_experts && model.interleave_moe_step > 1;
  return takes_turns ? interleaved(model) : stacks_of(model);
}

}  // namespace

std::vector<LayerKind> layer_kinds(const Model& model) {
  std::vector<LayerKind> kinds = kinds_of(model);
  for (auto& kind : kinds) {
    kind.own_loop = model.decoder_block.loops_in_cycle;
    kind.scales_output = model.decoder_block.scales_output;
  }
  return kinds;
}

}  // namespace shardplan
