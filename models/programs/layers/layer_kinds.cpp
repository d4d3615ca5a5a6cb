#include <fmt/format.h>

#include <models/programs/layers/branches.hpp>
#include <models/programs/layers/compressed_layers.hpp>
#include <models/programs/layers/engram_layers.hpp>
#include <models/programs/layers/layer_kinds.hpp>
#include <models/programs/mixers/mixers.hpp>

namespace shardplan {
namespace {

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
/// i + 1 is a multiple of the windows' period, and has experts where it is one of interleave_moe_step
/// (models/llama4.py, determine_is_nope_layer and determine_is_moe_layer; models/envy.py).
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
    branches.push_back({add_per_layer_input, HyperConnection::feed_forward, "", "post_per_layer_input_norm",
                        "residual after per-layer input"});
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
  if (model.decoder_block.compressed_attention) return compressed_layers(model);
  const std::int64_t dense = model.dense_layers() * model.sublayers_per_layer;
  const std::int64_t moe = model.moe_layers() * model.sublayers_per_layer;
  const bool mixed = dense > 0 && moe > 0;
  std::vector<LayerKind> kinds = with_windows(model, mixed ? "dense_layers" : "layers", FeedForward::dense, dense);
  for (auto& kind : kinds) kind.before_pipeline = mixed && model.decoder_block.dense_layers_before_pipeline;
  for (auto& kind : with_windows(model, mixed ? "moe_layers" : "layers", FeedForward::experts, moe))
    kinds.push_back(std::move(kind));
  if (model.use_batch_split_schedule) kinds.back().batch_split = true;
  std::erase_if(kinds, [](const LayerKind& kind) { return kind.count == 0; });
  return model.engram_layers.empty() ? kinds : with_engrams(std::move(kinds), model);
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
    // The layer behind the loop is one of a single iteration, whose bounds nothing on the host crosses (models/gemma4.py,
    // _scan_global_layer).
    kind.stays_on_device = kind.own_loop && kind.continues_cycle;
    kind.scales_output = model.decoder_block.scales_output;
  }
  return kinds;
}

}  // namespace shardplan
