// What a layer is made of: weights with their dims and logical axes, the expert buffers, checkpoint names.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <models/load_model.hpp>
#include <models/programs/train_program.hpp>

namespace shardplan {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

struct Layer {
  const char *model, *block;
  MoePath path = MoePath::none;
  std::int64_t sequence = 4096;
  double capacity_factor = 1, buffer_factor = -1;
  std::int64_t expert_group = 8;
};

Block block_of(const Layer& layer) {
  TrainConfig config;
  config.per_device_batch_size = 1;
  config.max_target_length = layer.sequence;
  config.moe_path = layer.path;
  config.capacity_factor = layer.capacity_factor;
  config.ragged_buffer_factor = layer.buffer_factor;
  Model model = load_model(layer.model);
  model.not_modelled.clear();  // a layer has its test before a compiled program has confirmed it
  for (auto& block : train_program(model, config, {8, 1, layer.expert_group}).blocks)
    if (block.name == layer.block) return std::move(block);
  throw std::logic_error(std::string("test: no block ") + layer.block);
}

/// "mlp/wi_0 [4096, 11008] embed mlp"
std::vector<std::string> weights(const Layer& layer) {
  std::vector<std::string> all;
  for (const auto& tensor : block_of(layer).tensors) {
    if (!tensor.parameter) continue;
    std::vector<std::int64_t> sizes;
    for (const auto& dim : tensor.dims) sizes.push_back(dim.size);
    const std::vector<std::string_view> axes(tensor.constraint.axes.begin(), tensor.constraint.axes.end());
    all.push_back(fmt::format("{} [{}] {}", tensor.name, fmt::join(sizes, ", "), fmt::join(axes, " ")));
  }
  return all;
}

std::int64_t size_in(const Block& block, const std::string& tensor, Dim wanted) {
  for (const auto& candidate : block.tensors)
    if (candidate.name == tensor)
      for (const auto& dim : candidate.dims)
        if (dim.dim == wanted) return dim.size;
  return -1;
}

std::vector<std::string> names_of(const Block& block, const std::string& tensor) {
  for (const auto& candidate : block.tensors)
    if (candidate.name == tensor) return candidate.checkpoint_names;
  return {"no such tensor"};
}

TEST(Layer, OfLlama) {
  EXPECT_THAT(weights({"llama2-7b", "layers"}),
              ElementsAre("pre_self_attention_layer_norm/scale [4096] norm",
                          "self_attention/query [4096, 32, 128] embed q_heads kv",
                          "self_attention/key [4096, 32, 128] embed kv_heads kv_head_dim",
                          "self_attention/value [4096, 32, 128] embed kv_heads kv_head_dim",
                          "self_attention/out [32, 128, 4096] heads kv embed",
                          "post_self_attention_layer_norm/scale [4096] norm", "mlp/wi_0 [4096, 11008] embed mlp",
                          "mlp/wi_1 [4096, 11008] embed mlp", "mlp/wo [11008, 4096] mlp embed"));
}

TEST(Layer, OfMixtralHasTheSameExpertsOnEveryPath) {
  for (const MoePath path : {MoePath::dropping, MoePath::ragged, MoePath::ring})
    EXPECT_THAT(
        weights({"mixtral-8x7b", "layers", path}),
        IsSupersetOf({"MoeBlock_0/gate [4096, 8] embed ", "MoeBlock_0/wi_0 [8, 4096, 14336] exp embed_moe mlp_moe",
                      "MoeBlock_0/wi_1 [8, 4096, 14336] exp embed_moe mlp_moe",
                      "MoeBlock_0/wo [8, 14336, 4096] exp mlp_moe embed_moe"}));
}

// Latent attention: key and value ranks are projected up; the gate carries embed_moe; 2 shared experts of 1408.
TEST(Layer, OfDeepSeek2) {
  const Layer layer{"deepseek2-16b", "moe_layers", MoePath::ragged};
  EXPECT_THAT(
      weights(layer),
      IsSupersetOf({"self_attention/query [2048, 16, 192] embed q_heads kv",
                    "self_attention/wkv_a [2048, 576] embed kv_lora_up_proj",
                    "self_attention/wkv_b [512, 16, 256] kv_lora kv_heads kv_head_dim",
                    "self_attention/out [16, 128, 2048] heads kv embed", "MoeBlock_0/gate [2048, 64] embed_moe ",
                    "shared_experts/wi_0 [2048, 2816] embed mlp", "shared_experts/wo [2816, 2048] mlp embed"}));
  EXPECT_THAT(weights({"deepseek2-16b", "dense_layers", MoePath::ragged}),
              Contains("mlp/wi_0 [2048, 10944] embed mlp"));
  EXPECT_THAT(weights({"deepseek3-671b", "moe_layers", MoePath::ragged}),
              IsSupersetOf({"self_attention/wq_a [7168, 1536] embed q_lora_up_proj",
                            "self_attention/wq_b [1536, 128, 192] q_lora q_heads kv"}));
}

// MaxText models/qwen3.py: three layers of a cycle have a gated delta net, the last one gated attention.
TEST(Layer, OfQwen3Next) {
  EXPECT_THAT(weights({"qwen3-next-80b-a3b", "linear_layers", MoePath::ragged}),
              IsSupersetOf({"attention/in_proj_qkvz [2048, 16, 768] embed gdn_head ",
                            "attention/in_proj_ba [2048, 32, 2] embed gdn_head ", "attention/conv1d [4, 16, 512]   ",
                            "attention/A_log [32] ", "attention/dt_bias [32] ", "attention/norm/scale [128] norm",
                            "attention/out_proj [32, 128, 2048] gdn_head  embed",
                            "MoeBlock_0/gate [2048, 512] embed ", "shared_experts/wi_0 [2048, 512] embed mlp",
                            "shared_expert_gate [2048, 1] embed "}));
  EXPECT_THAT(weights({"qwen3-next-80b-a3b", "full_layers", MoePath::ragged}),
              IsSupersetOf({"self_attention/query [2048, 16, 512] embed q_heads kv",
                            "self_attention/query_norm/scale [256] norm",
                            "self_attention/key [2048, 2, 256] embed kv_heads kv_head_dim",
                            "self_attention/key_norm/scale [256] norm", "self_attention/out [16, 256, 2048] mlp  embed"}));
  const Block linear = block_of({"qwen3-next-80b-a3b", "linear_layers", MoePath::ragged});
  const Block full = block_of({"qwen3-next-80b-a3b", "full_layers", MoePath::ragged});
  EXPECT_EQ(linear.layers, 36);
  EXPECT_EQ(linear.layers_per_cycle, 3);
  EXPECT_EQ(full.layers, 12);
  EXPECT_TRUE(full.continues_cycle);
}

// MaxText layers/attention_mla.py: an indexer beside latent attention, which picks keys once there are more than its k.
TEST(Layer, OfDeepSeek32) {
  const Layer layer{"deepseek3.2-671b", "moe_layers", MoePath::ragged};
  EXPECT_THAT(weights(layer), IsSupersetOf({"self_attention/indexer/wq_b [1536, 64, 128] q_lora q_heads kv",
                                            "self_attention/indexer/wk [7168, 128] embed kv",
                                            "self_attention/indexer/weights_proj [7168, 64] embed q_heads"}));
  const auto scores = [&](std::int64_t sequence) {
    Layer at = layer;
    at.sequence = sequence;
    return size_in(block_of(at), "indexer mask", Dim::position);
  };
  EXPECT_EQ(scores(2048), -1);
  EXPECT_EQ(scores(2049), 2049);
}

TEST(Layer, HasTheNormsOfItsModel) {
  EXPECT_THAT(weights({"gemma2-9b", "layers_local"}),
              IsSupersetOf({"post_self_attention_norm/scale [3584] norm", "post_ffw_norm/scale [3584] norm"}));
  EXPECT_THAT(weights({"llama2-7b", "layers"}), Not(Contains(HasSubstr("post_ffw_norm"))));
  EXPECT_THAT(weights({"qwen3-8b", "layers"}),
              IsSupersetOf({"self_attention/query_norm/scale [128] norm", "self_attention/key_norm/scale [128] norm"}));
}

// MaxText models/olmo3.py: norms after attention and MLP alone; GlobalRMSNorm over all heads.
TEST(Layer, OfOlmo3) {
  EXPECT_THAT(weights({"olmo3-7b", "layers_local"}),
              ElementsAre("self_attention/query [4096, 32, 128] embed q_heads kv",
                          "self_attention/query_norm/scale [32, 128] norm ",
                          "self_attention/key [4096, 32, 128] embed kv_heads kv_head_dim",
                          "self_attention/key_norm/scale [32, 128] norm ",
                          "self_attention/value [4096, 32, 128] embed kv_heads kv_head_dim",
                          "self_attention/out [32, 128, 4096] heads kv embed",
                          "post_self_attention_norm/scale [4096] norm", "mlp/wi_0 [4096, 11008] embed mlp",
                          "mlp/wi_1 [4096, 11008] embed mlp", "mlp/wo [11008, 4096] mlp embed",
                          "post_ffw_norm/scale [4096] norm"));
}

// MaxText models/gpt3.py: LayerNorm with bias, one projection for query, key and value, a bias on every projection.
TEST(Layer, OfGpt3) {
  EXPECT_THAT(
      weights({"gpt3-6b", "layers"}),
      ElementsAre("pre_self_attention_layer_norm/scale [3072] norm", "pre_self_attention_layer_norm/bias [3072] norm",
                  "self_attention/qkv_proj [3072, 3, 12, 256] embed qkv heads kv",
                  "self_attention/qkv_proj/bias [3, 12, 256] qkv heads kv",
                  "self_attention/out [12, 256, 3072] heads kv embed", "self_attention/out/bias [3072] embed",
                  "post_self_attention_layer_norm/scale [3072] norm", "post_self_attention_layer_norm/bias [3072] norm",
                  "mlp/wi [3072, 12288] embed mlp", "mlp/wi/bias [12288] mlp", "mlp/wo [12288, 3072] mlp embed",
                  "mlp/wo/bias [3072] embed"));
  EXPECT_THAT(weights({"gpt3-6b", "head"}), IsSupersetOf({"decoder_norm/bias [3072] norm"}));
}

// MaxText layers/attentions.py, layers/moe.py: a sink a head, a bias of the router and of each expert's projections.
TEST(Layer, OfGptOss) {
  EXPECT_THAT(weights({"gpt-oss-20b", "layers_local", MoePath::ragged}),
              IsSupersetOf({"self_attention/sinks [64] ", "self_attention/out/bias [2880] embed",
                            "MoeBlock_0/gate/bias [32] ", "MoeBlock_0/wi_0/bias [32, 2880] exp activation_mlp",
                            "MoeBlock_0/wi_1/bias [32, 2880] exp activation_mlp",
                            "MoeBlock_0/wo/bias [32, 2880] exp activation_embed"}));
}

// DeepSeek V3 picks experts by biased logits and weighs them by the others: its bias has no gradient.
TEST(Layer, LearnsTheRoutedBiasWhereWeightsDependOnIt) {
  const auto learns = [](const char* model, const char* block) {
    for (const auto& tensor : block_of({model, block, MoePath::ragged}).tensors)
      if (tensor.name == "MoeBlock_0/gate/bias") return tensor.differentiable;
    throw std::logic_error("test: no bias");
  };
  EXPECT_FALSE(learns("deepseek3-671b", "moe_layers"));
  EXPECT_TRUE(learns("gpt-oss-20b", "layers_global"));
}

TEST(Layer, TiesTheTableToTheHead) {
  EXPECT_THAT(weights({"gemma-2b", "head"}), Contains("token_embedder/embedding [256128, 2048] vocab embed_vocab"));
  EXPECT_THAT(weights({"llama2-7b", "head"}), Contains("logits_dense [4096, 32000] embed_vocab vocab"));
}

struct CapacityRow {
  const char* what;
  std::int64_t sequence;
  double factor;
  std::int64_t capacity;
};

// C = int(max(ceil(S·k/X)·cf, cf)) a sequence; mixtral: k 2, X 8.
TEST(Capacity, IsRoundedUpThenScaled) {
  for (const auto& [what, sequence, factor, capacity] : {CapacityRow{"the recorded one", 4096, 1, 1024},
                                                         {"scaled", 4096, 1.25, 1280},
                                                         {"not whole: 4097·2/8 = 1024.25", 4097, 1, 1025},
                                                         {"cut after scaling", 4097, 1.5, 1537},
                                                         {"a short sequence", 1, 2, 2}})
    EXPECT_EQ(size_in(block_of({"mixtral-8x7b", "layers", MoePath::dropping, sequence, factor}), "dispatched tokens",
                      Dim::capacity),
              capacity)
        << what;
}

// Rows a device's buffer holds over the rows it gets when routing is balanced: min(n, X/k), or ragged_buffer_factor.
TEST(RowOccupancy, IsTheShareOfTheBufferThatBalancedRoutingFills) {
  EXPECT_DOUBLE_EQ(
      block_of({.model = "mixtral-8x7b", .block = "layers", .path = MoePath::ragged, .expert_group = 8}).row_occupancy,
      1.0 / 4);
  EXPECT_DOUBLE_EQ(
      block_of({.model = "mixtral-8x7b", .block = "layers", .path = MoePath::ragged, .expert_group = 2}).row_occupancy,
      1.0 / 2);
  EXPECT_DOUBLE_EQ(block_of({.model = "mixtral-8x7b", .block = "layers", .path = MoePath::ragged, .buffer_factor = 1.5})
                       .row_occupancy,
                   1 / 1.5);
  EXPECT_DOUBLE_EQ(
      block_of({.model = "mixtral-8x7b", .block = "layers", .path = MoePath::ragged, .expert_group = 1}).row_occupancy,
      1);
  EXPECT_DOUBLE_EQ(block_of({.model = "mixtral-8x7b", .block = "layers", .path = MoePath::dropping}).row_occupancy, 1);
}

// 8 sequences × 4096 tokens × 2 experts = 65536 rows, four times that in the worst-case buffers, over 8 experts.
TEST(RowOccupancy, GoesWithTheRowsOfTheBuffer) {
  EXPECT_EQ(size_in(block_of({"mixtral-8x7b", "layers", MoePath::ragged}), "routed tokens", Dim::rows), 65536 * 4 / 8);
}

TEST(CheckpointNames, AreMaxTexts) {
  const Block dropping = block_of({"mixtral-8x7b", "layers", MoePath::dropping});
  EXPECT_THAT(names_of(dropping, "query"), ElementsAre("query_proj"));
  EXPECT_THAT(names_of(dropping, "context"), ElementsAre("context"));
  EXPECT_THAT(names_of(dropping, "attention output"), ElementsAre("out_proj"));
  EXPECT_THAT(names_of(dropping, "expert wi_1 output"), ElementsAre("mlpwi_1", "moe_mlpwi_1"));
  EXPECT_THAT(names_of(dropping, "expert output"), ElementsAre("mlpwo", "moe_mlpwo"));
  const Block ragged = block_of({"mixtral-8x7b", "layers", MoePath::ragged});
  EXPECT_THAT(names_of(ragged, "expert wi_0 output"), ElementsAre("mlpwi_0", "moe_mlpwi_0"));
  EXPECT_THAT(names_of(ragged, "expert wi_1 output"), ElementsAre("moe_mlpwi_1"));  // so minimal computes it again
}

// What a joint projection makes is normed, and named for policies, as what three make: values of gemma4, too.
TEST(Attention, OfOneProjectionHasTheNormsOfThree) {
  Model model = load_model("gemma4-31b");
  model.share_kv_projections = false;
  const auto normed = [&](bool fused) {
    model.fused_qkv = fused;
    TrainConfig config;
    config.per_device_batch_size = 1;
    std::map<std::string, std::vector<std::string>> names;
    for (const Block& block : train_program(model, config, {8, 1, 1}).blocks)
      for (const Tensor& tensor : block.tensors)
        if (tensor.name.ends_with("_norm output") && !tensor.checkpoint_names.empty())
          names[block.name + " " + tensor.name] = tensor.checkpoint_names;
    return names;
  };
  EXPECT_EQ(normed(true), normed(false));
  EXPECT_TRUE(normed(true).contains("layers_local self_attention/value_norm output"));
}

}  // namespace
}  // namespace shardplan
