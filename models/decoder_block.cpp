#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <models/decoder_block.hpp>
#include <shardplan/error.hpp>
#include <tuple>

namespace shardplan {
namespace {

using Kind = DecoderBlockKind;
constexpr FeedForward experts = FeedForward::experts;

constexpr DecoderBlock blocks[] = {
    {.kind = Kind::llama2,
     .name = "llama2",
     .predicting = PredictingLayer::last,
     .caps_scores = true,
     .made_by_base_defaults = true,
     .explicit_sharding = true,
     .muon = true},
    {.kind = Kind::mistral, .name = "mistral", .predicting = PredictingLayer::last, .made_by_base_defaults = true},
    {.kind = Kind::mixtral,
     .name = "mixtral",
     .predicting = PredictingLayer::last,
     .parts = {.mlp_bias = true},
     .feed_forward = experts,
     .made_by_base_defaults = true},
    {.kind = Kind::deepseek,
     .name = "deepseek",
     .predicting = PredictingLayer::last,
     .parts = {.mlp_bias = true},
     .feed_forward = experts,
     .dense_layers_before_pipeline = true,
     .caps_scores = true,
     .hyper_connections = true,
     .n_gram_memory = true,
     .shared_experts = true,
     .routed_bias_only_picks = true,  // layers/moe.py: deepseek_routing
     .gate_axis = "embed_moe",  // RoutedAndSharedMoE
     .batch_split = true,
     .explicit_sharding = true,
     .explicit_mlp_by_norm_length = true,
     .muon = true},
    {.kind = Kind::qwen2,
     .name = "qwen2",
     .predicting = PredictingLayer::stops,
     .parts = {.qk_norm = true, .attention_bias = true},
     .attention_output_bias = false},  // layers/attentions.py: is_qwen2
    {.kind = Kind::qwen3,
     .name = "qwen3",
     .predicting = PredictingLayer::stops,
     .parts = {.qk_norm = true},
     .muon = true},
    {.kind = Kind::qwen3_moe,
     .name = "qwen3_moe",
     .predicting = PredictingLayer::stops,
     .parts = {.qk_norm = true, .mlp_bias = true},
     .feed_forward = experts,
     .mlp_follows_moe_mlp = true},
    {.kind = Kind::gpt_oss,
     .name = "gpt_oss",
     .predicting = PredictingLayer::scanned_cycle,
     .parts = {.attention_bias = true, .mlp_bias = true},
     .feed_forward = experts,
     .locals_per_period = 1,
     .capacity = CapacityChoice::with_sparse_matmul},
    {.kind = Kind::gpt3,
     .name = "gpt3",
     .predicting = PredictingLayer::last,
     .parts = {.attention_bias = true, .mlp_bias = true},
     .fuses_in_thirds = true},
    {.kind = Kind::gemma, .name = "gemma", .predicting = PredictingLayer::last},
    {.kind = Kind::gemma2,
     .name = "gemma2",
     .predicting = PredictingLayer::cycle,
     .parts = {.post_attn_norm = true, .post_ffw_norm = true},
     .locals_per_period = 1,
     .sublayers_per_layer = 2,
     .caps_scores = true,
     .wide_global_scores = true},  // models/gemma2.py
    {.kind = Kind::gemma3,
     .name = "gemma3",
     .predicting = PredictingLayer::local,
     .parts = {.qk_norm = true, .post_attn_norm = true, .post_ffw_norm = true},
     .locals_per_period = 5,
     .caps_scores = true,
     .muon = true},
    {.kind = Kind::olmo3,
     .name = "olmo3",
     .predicting = PredictingLayer::scanned_cycle,
     .parts = {.qk_norm = true, .post_attn_norm = true, .post_ffw_norm = true, .attention_bias = true, .no_pre_norm = true},
     .locals_per_period = 3},
    {.kind = Kind::deepseek4,
     .name = "deepseek4",
     .predicting = PredictingLayer::excluded,
     .parts = {.qk_norm = true, .mlp_bias = true},
     .feed_forward = experts,
     .compressed_attention = true,
     .hyper_connections = true,
     .shared_experts = true,
     .routed_bias_only_picks = true,
     .untrained_routed_bias = true,  // layers/moe.py: MoEBiasVar
     .gate_axis = "embed_moe",       // RoutedAndSharedMoE
     .muon = true},
    {.kind = Kind::envy,
     .name = "envy",
     .predicting = PredictingLayer::scanned_cycle,
     .parts = {.qk_norm = true, .post_ffw_norm = true, .mlp_bias = true},
     .feed_forward = experts,
     .interleaves_experts = true},
    {.kind = Kind::gemma4,
     .name = "gemma4",
     .parts = {.qk_norm = true, .post_attn_norm = true, .post_ffw_norm = true, .mlp_bias = true},
     .feed_forward = experts,
     .either_feed_forward = true,
     .locals_per_period = 5,
     .global_heads = true,
     .loops_in_cycle = true,
     .scales_output = true,
     .caps_scores = true,
     .norms_values = true,
     .dense_beside_experts = true,
     .shared_experts = true,
     .gate_axis = "embed_moe",  // RoutedAndSharedMoE
     .free_moe_width = true},
    {.kind = Kind::gemma4_small,
     .name = "gemma4_small",
     .parts = {.qk_norm = true, .post_attn_norm = true, .post_ffw_norm = true},
     .free_period = true,  // four local layers a global one in e2b, five in e4b
     .unscanned = true,
     .lends_keys = true,
     .global_heads = true,
     .scales_output = true,
     .caps_scores = true,
     .norms_values = true},
    {.kind = Kind::llama4,
     .name = "llama4",
     .predicting = PredictingLayer::scanned_cycle,
     .parts = {.qk_norm = true, .mlp_bias = true},
     .feed_forward = experts,
     .locals_per_period = 3,  // nope_layer_interval: every fourth layer is global
     .window_shape = WindowShape::chunked,
     .interleaves_experts = true,
     .l2_qk_norm = true,  // layers/attentions.py: is_llama4_decoder_block
     .scales_expert_input = true,
     .shared_experts = true,
     .gate_axis = "embed_moe",  // RoutedAndSharedMoE
     .capacity = CapacityChoice::never},
    {.kind = Kind::qwen3_custom_moe,
     .name = "qwen3_custom_moe",
     .predicting = PredictingLayer::stops,
     .parts = {.qk_norm = true, .mlp_bias = true},
     .feed_forward = experts,
     .shape = LayerShape::attention_into_experts},
    {.kind = Kind::qwen3_next,
     .name = "qwen3_next",
     .predicting = PredictingLayer::stops,
     .parts = {.qk_norm = true, .mlp_bias = true},
     .feed_forward = experts,
     .gated_delta_net = true,
     .gated_attention = true,
     .gated_shared_expert = true},
    {.kind = Kind::qwen3_5,
     .name = "qwen3_5",
     .predicting = PredictingLayer::stops,
     .parts = {.qk_norm = true, .mlp_bias = true},
     .feed_forward = experts,
     .gated_delta_net = true,
     .gated_attention = true,
     .gated_shared_expert = true},
};

}  // namespace

std::vector<std::string> decoder_block_names() {
  std::vector<std::string> names;
  for (const auto& block : blocks) names.emplace_back(block.name);
  return names;
}

std::vector<std::string> decoder_blocks_with(bool DecoderBlock::*trait) {
  std::vector<std::string> names;
  for (const auto& block : blocks)
    if (block.*trait) names.emplace_back(block.name);
  return names;
}

const DecoderBlock& decoder_block(DecoderBlockKind kind) {
  const auto found = std::find_if(std::begin(blocks), std::end(blocks), [&](const auto& b) { return b.kind == kind; });
  if (found != std::end(blocks)) return *found;
  throw InternalError("a decoder block without a row");
}

std::vector<std::string_view> parts_that_no_layer_has(const Model& model) {
  const LayerParts& parts = model.decoder_block.parts;
  const std::tuple<std::string_view, bool, bool> asked[] = {
      {"use_qk_norm", model.use_qk_norm, parts.qk_norm},
      {"use_post_attn_norm", model.use_post_attn_norm, parts.post_attn_norm},
      {"use_post_ffw_norm", model.use_post_ffw_norm, parts.post_ffw_norm},
      {"attention_bias", model.attention_bias, parts.attention_bias},
      {"mlp_bias", model.mlp_bias, parts.mlp_bias},
      {"use_pre_norm", !model.use_pre_norm, parts.no_pre_norm}};
  std::vector<std::string_view> fields;
  for (const auto& [field, is_asked, is_built] : asked)
    if (is_asked && !is_built) fields.push_back(field);
  return fields;
}

std::optional<std::string> no_predicting_layer(const Model& model) {
  const bool excluded = model.decoder_block.predicting == PredictingLayer::excluded;
  if (model.mhc_expansion_rate > 1 && !excluded)
    return "MaxText hands a layer of multi-token prediction one stream, and those of this model carry several";
  switch (model.decoder_block.predicting) {
    case PredictingLayer::not_modelled:
      return "multi-token prediction beside these layers is not modelled";
    case PredictingLayer::stops:
      return "MaxText e591f30cb stops with it, since its layers of multi-token prediction call this decoder's without an "
             "argument that it needs";
    case PredictingLayer::excluded:
      return "MaxText excludes it beside this decoder (configs/types.py)";
    case PredictingLayer::last:
    case PredictingLayer::local:
    case PredictingLayer::cycle:
    case PredictingLayer::scanned_cycle:
      return std::nullopt;
  }
  throw InternalError("unknown PredictingLayer");
}

const DecoderBlock& find_decoder_block(const std::string& name, const std::string& place) {
  const auto found =
      std::find_if(std::begin(blocks), std::end(blocks), [&](const auto& block) { return block.name == name; });
  if (found != std::end(blocks)) return *found;
  const auto names = decoder_block_names();
  if (nearest_names(name, names).empty())  // no command lists them
    throw InputError(fmt::format("{}: unknown decoder_block '{}'; known: {}", place, name, fmt::join(names, ", ")));
  throw InputError(place + ": " + unknown_name("decoder_block", name, names));
}

}  // namespace shardplan
