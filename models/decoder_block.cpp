#include <algorithm>
#include <models/decoder_block.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

using Kind = DecoderBlockKind;
constexpr FeedForward experts = FeedForward::experts;

constexpr DecoderBlock blocks[] = {
    {.kind = Kind::llama2, .name = "llama2", .multi_token_prediction = true, .explicit_sharding = true, .muon = true},
    {.kind = Kind::mistral, .name = "mistral", .multi_token_prediction = true},
    {.kind = Kind::mixtral, .name = "mixtral", .feed_forward = experts, .multi_token_prediction = true},
    {.kind = Kind::deepseek,
     .name = "deepseek",
     .feed_forward = experts,
     .dense_layers_before_pipeline = true,
     .hyper_connections = true,
     .n_gram_memory = true,
     .routed_bias_only_picks = true,  // layers/moe.py: deepseek_routing
     .gate_axis = "embed_moe",  // RoutedAndSharedMoE
     .multi_token_prediction = true,
     .batch_split = true,
     .explicit_sharding = true,
     .explicit_mlp_by_norm_length = true,
     .muon = true},
    {.kind = Kind::qwen2, .name = "qwen2", .attention_output_bias = false},  // layers/attentions.py: is_qwen2
    {.kind = Kind::qwen3, .name = "qwen3", .muon = true},
    {.kind = Kind::qwen3_moe, .name = "qwen3_moe", .feed_forward = experts, .mlp_follows_moe_mlp = true},
    {.kind = Kind::gpt_oss,
     .name = "gpt_oss",
     .feed_forward = experts,
     .locals_per_period = 1,
     .capacity = CapacityChoice::with_sparse_matmul},
    {.kind = Kind::gpt3, .name = "gpt3", .fuses_in_thirds = true},
    {.kind = Kind::gemma, .name = "gemma"},
    {.kind = Kind::gemma2, .name = "gemma2", .locals_per_period = 1, .sublayers_per_layer = 2},
    {.kind = Kind::gemma3, .name = "gemma3", .locals_per_period = 5, .muon = true},
    {.kind = Kind::olmo3, .name = "olmo3", .locals_per_period = 3},
    {.kind = Kind::deepseek4,
     .name = "deepseek4",
     .feed_forward = experts,
     .compressed_attention = true,
     .hyper_connections = true,
     .routed_bias_only_picks = true,
     .untrained_routed_bias = true,  // layers/moe.py: MoEBiasVar
     .gate_axis = "embed_moe",       // RoutedAndSharedMoE
     .muon = true},
    {.kind = Kind::envy, .name = "envy", .feed_forward = experts, .interleaves_experts = true},
    {.kind = Kind::gemma4,
     .name = "gemma4",
     .feed_forward = experts,
     .either_feed_forward = true,
     .locals_per_period = 5,
     .global_heads = true,
     .loops_in_cycle = true,
     .scales_output = true,
     .norms_values = true,
     .dense_beside_experts = true,
     .gate_axis = "embed_moe",  // RoutedAndSharedMoE
     .free_moe_width = true},
    {.kind = Kind::gemma4_small,
     .name = "gemma4_small",
     .free_period = true,  // four local layers a global one in e2b, five in e4b
     .unscanned = true,
     .lends_keys = true,
     .global_heads = true,
     .scales_output = true,
     .norms_values = true},
    {.kind = Kind::llama4,
     .name = "llama4",
     .feed_forward = experts,
     .locals_per_period = 3,  // nope_layer_interval: every fourth layer is global
     .window_shape = WindowShape::chunked,
     .interleaves_experts = true,
     .l2_qk_norm = true,  // layers/attentions.py: is_llama4_decoder_block
     .scales_expert_input = true,
     .gate_axis = "embed_moe",  // RoutedAndSharedMoE
     .capacity = CapacityChoice::never},
    {.kind = Kind::qwen3_custom_moe,
     .name = "qwen3_custom_moe",
     .feed_forward = experts,
     .shape = LayerShape::attention_into_experts},
    {.kind = Kind::qwen3_next,
     .name = "qwen3_next",
     .feed_forward = experts,
     .gated_delta_net = true,
     .gated_attention = true,
     .gated_shared_expert = true},
    {.kind = Kind::qwen3_5,
     .name = "qwen3_5",
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

const DecoderBlock& find_decoder_block(const std::string& name, const std::string& place) {
  const auto found =
      std::find_if(std::begin(blocks), std::end(blocks), [&](const auto& block) { return block.name == name; });
  if (found != std::end(blocks)) return *found;
  throw InputError(place + ": " + unknown_name("decoder_block", name, decoder_block_names()));
}

}  // namespace shardplan
