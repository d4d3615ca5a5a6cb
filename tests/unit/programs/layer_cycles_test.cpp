// Decoders whose layers are not all alike: which kinds there are, what each is made of, how they share a scan.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <models/load_model.hpp>
#include <models/programs/train_program.hpp>

namespace shardplan {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

Program program_of(const std::string& name) {
  const Model model = load_model(name);
  TrainConfig config;
  config.per_device_batch_size = 1;
  config.max_target_length = 64;
  config.scan_layers = model.scan_layers;
  config.moe_path = model.has_experts() ? MoePath::ragged : MoePath::none;
  return train_program(model, config, {8, 1, 1});
}

/// "moe_layers_1 12 in cycles of 1 +, experts, chunked 8192": its attention's window at the end.
std::string summary(const Block& block) {
  std::string text = fmt::format("{} {}", block.name, block.layers);
  if (block.layers_per_cycle > 1) text += fmt::format(", {} a cycle", block.layers_per_cycle);
  if (block.continues_cycle) text += ", continues";
  if (block.own_loop) text += ", own loop";
  if (block.stays_on_device) text += ", stays on the device";
  if (block.mixture) text += ", experts";
  for (const auto& op : block.operations)
    if (op.kind == OpKind::attention && op.attention_window.tokens > 0)
      text += fmt::format(", {} {}", op.attention_window.shape == WindowShape::chunked ? "chunks of" : "window",
                          op.attention_window.tokens);
  return text;
}

std::vector<std::string> layers_of(const std::string& model) {
  std::vector<std::string> all;
  for (const auto& block : program_of(model).blocks)
    if (block.kind == BlockKind::layer) all.push_back(summary(block));
  return all;
}

std::vector<std::string> weights(const std::string& model, const std::string& name) {
  std::vector<std::string> all;
  for (const auto& block : program_of(model).blocks) {
    if (block.name != name) continue;
    for (const auto& tensor : block.tensors) {
      if (!tensor.parameter) continue;
      std::vector<std::int64_t> sizes;
      for (const auto& dim : tensor.dims) sizes.push_back(dim.size);
      const std::vector<std::string_view> axes(tensor.constraint.axes.begin(), tensor.constraint.axes.end());
      all.push_back(fmt::format("{} [{}] {}", tensor.name, fmt::join(sizes, ", "), fmt::join(axes, " ")));
    }
  }
  return all;
}

std::vector<std::string> operations(const std::string& model, const std::string& name) {
  std::vector<std::string> all;
  for (const auto& block : program_of(model).blocks)
    if (block.name == name)
      for (const auto& op : block.operations) all.push_back(op.name);
  return all;
}

// MaxText models/llama4.py: every fourth layer sees all positions; of the 128 experts' model every second has experts.
TEST(LayerCycles, OfLlama4) {
  EXPECT_THAT(layers_of("llama4-17b-16e"),
              ElementsAre("layers_local 36, 3 a cycle, experts, chunks of 8192", "layers_global 12, continues, experts"));
  EXPECT_THAT(layers_of("llama4-17b-128e"),
              ElementsAre("dense_layers_0 12, chunks of 8192", "moe_layers_1 12, continues, experts, chunks of 8192",
                          "dense_layers_2 12, continues, chunks of 8192", "moe_layers_3 12, continues, experts"));
}

// layers/attentions.py: the L2 norm follows the rotation, which global layers don't have, and has no scale.
TEST(LayerCycles, Llama4NormsRotatedHeadsWithoutAScale) {
  EXPECT_THAT(operations("llama4-17b-16e", "layers_local"),
              IsSupersetOf({"self_attention/query_norm", "self_attention/key_norm"}));
  EXPECT_THAT(operations("llama4-17b-16e", "layers_global"), Not(Contains(HasSubstr("query_norm"))));
  EXPECT_THAT(weights("llama4-17b-16e", "layers_local"), Not(Contains(HasSubstr("query_norm"))));
}

// layers/moe.py: the sigmoid of the router's logit multiplies the token before its expert reads it; the sum is plain.
TEST(LayerCycles, Llama4ScalesWhatExpertsRead) {
  EXPECT_THAT(operations("llama4-17b-16e", "layers_global"), Contains("MoeBlock_0/scaled_input"));
  EXPECT_THAT(operations("llama4-17b-16e", "layers_global"), Not(Contains("MoeBlock_0/weighted_sum")));
  EXPECT_THAT(operations("mixtral-8x7b", "layers"), Not(Contains("MoeBlock_0/scaled_input")));
  EXPECT_THAT(weights("llama4-17b-16e", "layers_global"), Contains("MoeBlock_0/gate [5120, 16] embed_moe "));
}

TEST(LayerCycles, OfEnvy) {
  EXPECT_THAT(layers_of("envy-switch-base"), ElementsAre("dense_layers_0 6", "moe_layers_1 6, continues, experts"));
  EXPECT_THAT(weights("envy-switch-base", "moe_layers_1"),
              IsSupersetOf({"MoeBlock_0/gate [1536, 128] embed ", "post_ffw_norm/scale [1536] norm"}));
}

// MaxText models/gemma4.py: five local layers are a loop inside the scan's iteration, the global one another.
TEST(LayerCycles, OfGemma4) {
  EXPECT_THAT(layers_of("gemma4-31b"),
              ElementsAre("layers_local 50, 5 a cycle, own loop, window 1024",
                          "layers_global 10, continues, own loop, stays on the device"));
  EXPECT_THAT(layers_of("gemma4-26b"), ElementsAre("layers_local 25, 5 a cycle, own loop, experts, window 1024",
                                                   "layers_global 5, continues, own loop, stays on the device, experts"));
}

TEST(LayerCycles, Gemma4sGlobalLayersHaveHeadsOfTheirOwn) {
  EXPECT_THAT(weights("gemma4-31b", "layers_local"),
              IsSupersetOf({"self_attention/query [5376, 32, 256] embed q_heads kv",
                            "self_attention/key [5376, 16, 256] embed kv_heads kv_head_dim",
                            "self_attention/value [5376, 16, 256] embed kv_heads kv_head_dim", "layer_scalar [1] "}));
  EXPECT_THAT(weights("gemma4-31b", "layers_global"),
              IsSupersetOf({"self_attention/query [5376, 32, 512] embed q_heads kv",
                            "self_attention/key [5376, 4, 512] embed kv_heads kv_head_dim",
                            "self_attention/out [32, 512, 5376] heads kv embed"}));
  EXPECT_THAT(weights("gemma4-31b", "layers_global"), Not(Contains(HasSubstr("self_attention/value"))));
}

// A dense feed-forward of 2112 beside experts of 704, both from the same hidden state.
TEST(LayerCycles, Gemma4HasADenseFeedForwardBesideItsExperts) {
  EXPECT_THAT(weights("gemma4-26b", "layers_local"),
              IsSupersetOf({"pre_ffw_norm/scale [2816] norm", "shared_experts/wi_0 [2816, 2112] embed mlp",
                            "mlp/post_feedforward_layernorm_1/scale [2816] norm",
                            "mlp/pre_feedforward_layernorm_2/scale [2816] norm", "mlp/pre_forward_scale_2 [2816] embed",
                            "MoeBlock_0/gate [2816, 128] embed_moe ",
                            "MoeBlock_0/wi_0 [128, 2816, 704] exp embed_moe mlp_moe",
                            "mlp/post_feedforward_layernorm_2/scale [2816] norm", "post_ffw_norm/scale [2816] norm"}));
}

// MaxText models/gemma4_small.py: the last 20 of 35 layers attend to keys of the last two before them.
TEST(LayerCycles, OfGemma4Small) {
  EXPECT_THAT(layers_of("gemma4-e2b"), ElementsAre("layers_local 12, window 512", "layers_global 3",
                                                   "lent_layers_local 16, window 512", "lent_layers_global 4"));
  EXPECT_THAT(layers_of("gemma4-e4b"), ElementsAre("layers_local 20, window 512", "layers_global 4",
                                                   "lent_layers_local 15, window 512", "lent_layers_global 3"));
  EXPECT_THAT(weights("gemma4-e2b", "lent_layers_global"),
              IsSupersetOf({"self_attention/query [1536, 8, 512] embed q_heads kv", "mlp/wi_0 [1536, 12288] embed mlp",
                            "per_layer_input_gate [1536, 256] embed mlp", "per_layer_projection [256, 1536] mlp embed"}));
  EXPECT_THAT(weights("gemma4-e2b", "lent_layers_global"), Not(Contains(HasSubstr("self_attention/key"))));
  EXPECT_THAT(weights("gemma4-e4b", "lent_layers_global"), Contains("mlp/wi_0 [2560, 10240] embed mlp"));
  EXPECT_THAT(weights("gemma4-e2b", "per_layer_embedding"),
              IsSupersetOf({"per_layer_embedder/embed_tokens_per_layer [262144, 8960] vocab embed_vocab",
                            "per_layer_embedder/per_layer_model_projection [1536, 8960] embed mlp"}));
}

// MaxText models/qwen3_custom.py: 2048 wide between layers, 768 between attention and experts.
TEST(LayerCycles, OfQwen3Custom) {
  EXPECT_THAT(weights("qwen3-custom-30b-a3b", "layers"),
              IsSupersetOf({"self_attention/out [16, 256, 768] heads kv embed", "latent_norm/scale [768] norm",
                            "MoeBlock_0/gate [768, 128] embed ", "MoeBlock_0/wi_0 [128, 768, 2048] exp embed_moe mlp_moe",
                            "MoeBlock_0/wo [128, 2048, 768] exp mlp_moe embed_moe",
                            "layer_up_projection [768, 2048] mlp embed"}));
}

}  // namespace
}  // namespace shardplan
