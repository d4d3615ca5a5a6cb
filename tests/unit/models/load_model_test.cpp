#include <gmock/gmock.h>

#include <models/load_model.hpp>
#include <models/model_overrides.hpp>
#include <shardplan/error.hpp>

#include "model_text.hpp"

namespace shardplan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Property;
using testing::ThrowsMessage;

TEST(LoadModel, EveryConfigurationLoadsUnderItsOwnName) {
  const auto names = model_names();
  EXPECT_EQ(names.size(), 79U);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  for (const auto& name : names) EXPECT_EQ(load_model(name).name, name);
}

TEST(LoadModel, KnowsTheLayersOfEveryModel) {
  for (const auto& name : model_names()) EXPECT_EQ(load_model(name).not_modelled, "") << name;
}

TEST(LoadModel, SaysWhichTowersAreLeftOut) {
  std::vector<std::string> noted;
  for (const auto& name : model_names())
    if (load_model(name).note.find("tower") != std::string::npos) noted.push_back(name);
  EXPECT_THAT(noted, ElementsAre("gemma3-12b", "gemma3-27b", "gemma3-4b", "gemma4-26b", "gemma4-31b", "gemma4-e2b",
                                 "gemma4-e4b", "llama4-17b-128e", "llama4-17b-16e", "qwen3-omni-30b-a3b", "qwen3-vl-2b",
                                 "qwen3-vl-30b-a3b", "qwen3-vl-4b", "qwen3.5-35b-a3b", "qwen3.5-397b-a17b"));
}

struct Windows {
  const char* model;
  std::int64_t window;
  int locals_per_period;
};

TEST(LoadModel, KnowsEachAttentionPattern) {
  constexpr Windows table[] = {
      {"gemma2-9b", 4096, 1}, {"gemma3-4b", 1024, 5},   {"gpt-oss-20b", 128, 1}, {"olmo3-7b", 4096, 3},
      {"llama3-8b", 0, 0},    {"deepseek3-671b", 0, 0}, {"mistral-7b", 0, 0},
      {"llama4-17b-16e", 8192, 3}, {"gemma4-31b", 1024, 5}, {"gemma4-e2b", 512, 4},
  };
  for (const auto& row : table) {
    const auto pattern = load_model(row.model).attention_pattern;
    EXPECT_EQ(pattern.window, row.window) << row.model;
    EXPECT_EQ(pattern.locals_per_period, row.locals_per_period) << row.model;
  }
}

/// Norms before, after attention, after the feed-forward; of query and key; over all heads; LayerNorm.
struct Norms {
  const char* model;
  bool pre, post_attn, post_ffw, qk, all_heads, layer_norm;
};

TEST(LoadModel, KnowsEachModelsNorms) {
  constexpr Norms table[] = {
      {"llama3-8b", true, false, false, false, false, false}, {"gemma-7b", true, false, false, false, false, false},
      {"gemma2-9b", true, true, true, false, false, false},   {"gemma3-4b", true, true, true, true, false, false},
      {"qwen3-8b", true, false, false, true, false, false},   {"olmo3-7b", false, true, true, true, true, false},
      {"gpt3-6b", true, false, false, false, false, true},
  };
  for (const auto& row : table) {
    const Model model = load_model(row.model);
    EXPECT_EQ(model.use_pre_norm, row.pre) << row.model;
    EXPECT_EQ(model.use_post_attn_norm, row.post_attn) << row.model;
    EXPECT_EQ(model.use_post_ffw_norm, row.post_ffw) << row.model;
    EXPECT_EQ(model.use_qk_norm, row.qk) << row.model;
    EXPECT_EQ(model.qk_norm_over_all_heads, row.all_heads) << row.model;
    EXPECT_EQ(model.layer_norm, row.layer_norm) << row.model;
  }
}

struct Biases {
  const char* model;
  bool attention, mlp, sink, routed;
};

TEST(LoadModel, KnowsEachModelsBiases) {
  constexpr Biases table[] = {
      {"llama3-8b", false, false, false, false},     {"qwen2.5-7b", true, false, false, false},
      {"gpt3-6b", true, true, false, false},         {"gpt-oss-20b", true, true, true, true},
      {"deepseek2-16b", false, false, false, false}, {"deepseek3-671b", false, false, false, true},
  };
  for (const auto& row : table) {
    const Model model = load_model(row.model);
    EXPECT_EQ(model.attention_bias, row.attention) << row.model;
    EXPECT_EQ(model.mlp_bias, row.mlp) << row.model;
    EXPECT_EQ(model.attention_sink, row.sink) << row.model;
    EXPECT_EQ(model.routed_bias, row.routed) << row.model;
  }
}

TEST(LoadModel, CountsMixtureLayers) {
  struct Layers {
    const char* model;
    std::int64_t dense, experts;
  };
  constexpr Layers table[] = {{"llama3-8b", 32, 0},        {"mixtral-8x7b", 0, 32}, {"deepseek3-671b", 3, 58},
                              {"deepseek2-16b", 1, 26},    {"kimi-k2-1t", 1, 60},   {"gpt-oss-20b", 0, 24},
                              {"llama4-17b-128e", 24, 24}, {"gemma2-9b", 21, 0}};
  for (const auto& row : table) {
    EXPECT_EQ(load_model(row.model).dense_layers(), row.dense) << row.model;
    EXPECT_EQ(load_model(row.model).moe_layers(), row.experts) << row.model;
  }
}

TEST(LoadModel, ReadsTheModelsOwnRules) {
  const ModelRules merged = load_model("llama2-7b").rules;
  EXPECT_FALSE(merged.override_rules);
  EXPECT_THAT(merged.rules, ElementsAre(Rule{"norm", {"fsdp"}}));
  EXPECT_THAT(merged.mesh_axes, IsEmpty());

  const ModelRules replaced = load_model("deepseek3-671b-2dfsdp").rules;
  EXPECT_TRUE(replaced.override_rules);
  EXPECT_THAT(replaced.mesh_axes,
              ElementsAre("diloco", "data", "stage", "fsdp", "fsdp_transpose", "expert", "context"));
  EXPECT_THAT(replaced.data_sharding, ElementsAre("data", "stage", "fsdp", "fsdp_transpose", "expert", "context"));
  EXPECT_EQ(replaced.rules.size(), 24U);
  EXPECT_EQ(replaced.rules[8], (Rule{"activation_heads", {}}));
  EXPECT_EQ(replaced.rules[12], (Rule{"embed_vocab", {"fsdp", "fsdp_transpose"}}));
}

TEST(LoadModel, SuggestsTheNearestName) {
  EXPECT_THAT([] { load_model("mixtrl-8x7b"); },
              ThrowsMessage<InputError>(HasSubstr("unknown model 'mixtrl-8x7b'; nearest: mixtral-8x7b")));
  EXPECT_THAT([] { model_json("llamma3-8b"); }, ThrowsMessage<InputError>(HasSubstr("nearest: llama3-8b")));
}

TEST(LoadModel, AFileInOurFormIsTheSameAsTheBuiltIn) {
  const std::string path = write_file("copy.json", model_json("gpt-oss-20b"));
  const Model copy = load_model(path), built_in = load_model("gpt-oss-20b");
  EXPECT_EQ(copy.name, "gpt-oss-20b");
  EXPECT_EQ(copy.moe_mlp, built_in.moe_mlp);
  EXPECT_EQ(copy.mlp_activations, built_in.mlp_activations);
}

TEST(LoadModel, SaysWhichFileItCannotRead) {
  EXPECT_THAT([] { load_model("/nowhere/model.json"); },
              ThrowsMessage<InputError>(HasSubstr("/nowhere/model.json: cannot be read")));
  const std::string folder = write_file("config.json", model_json("gpt-oss-20b"));
  const std::string of_hub = folder.substr(0, folder.rfind('/') + 1);
  EXPECT_THAT([&] { load_model(of_hub); },
              ThrowsMessage<InputError>(HasSubstr("it is a folder; give " + of_hub + "config.json")));
  for (const char* name : {"nobody/knows-8b", "https://huggingface.co/nobody/knows/blob/main/config.json"})
    EXPECT_THAT([&] { load_model(name); },
                ThrowsMessage<InputError>(HasSubstr("of a model on Hugging Face give the path of its config.json"))) << name;
  EXPECT_THAT([] { load_model("./nobody/knows"); }, ThrowsMessage<InputError>(HasSubstr("there is no such file")));
  const std::string yaml = write_file("gemma2.yml", "base_emb_dim: 2304\n");
  EXPECT_THAT([&] { load_model(yaml); }, ThrowsMessage<InputError>(HasSubstr("are arguments beside its nearest model")));
}

}  // namespace
}  // namespace shardplan
