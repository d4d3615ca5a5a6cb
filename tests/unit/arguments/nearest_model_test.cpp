// A model that MaxText has no name for, as the nearest one that it has.
#include <gmock/gmock.h>

#include <arguments/keys/argument_table.hpp>
#include <arguments/model_words/model_yaml.hpp>
#include <arguments/model_words/nearest_model.hpp>
#include <models/load_model.hpp>

namespace shardplan {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Pair;

Model from_huggingface(const std::string& name) {
  return load_model(TEST_DATA "/models/huggingface/" + name + ".json");
}

TEST(NearestModel, OfOneThatMaxTextHasIsItself) {
  for (const std::string& name : model_names()) {
    const Model model = load_model(name);
    const ModelWords words = words_for(model);
    EXPECT_EQ(words.name == name, model.in_maxtext) << name;
    if (!model.in_maxtext) continue;
    EXPECT_EQ(words.overrides, model.run_arguments) << name;
  }
}

TEST(NearestModel, OfAPublishedFileIsTheBuiltIn) {
  for (const char* name : {"mixtral-8x7b", "qwen3-4b", "qwen3-30b-a3b", "deepseek3-671b", "deepseek3.2-671b",
                           "gpt-oss-20b", "kimi-k2-1t"}) {
    const Model model = from_huggingface(name);
    const ModelWords words = words_for(model);
    const Model nearest = load_model(words.name);
    EXPECT_EQ(nearest.layers, model.layers) << name;
    EXPECT_EQ(nearest.emb, model.emb) << name;
    EXPECT_EQ(words.overrides, model.inner_values) << name << ": " << words.name;  // nothing of its layers differs
  }
}

// MaxText scales the positions of whatever is called llama3.1, with any rope_type.
TEST(NearestModel, HasTheSameRotation) {
  Model model = load_model("llama3.1-405b");
  model.in_maxtext = false;
  model.layers = 100;
  EXPECT_EQ(words_for(model).name, "llama3.1-405b");
  model.interleaved_rotation = false;
  EXPECT_EQ(words_for(model).name, "llama3-70b");
}

TEST(NearestModel, HasNoTowers) {
  for (const char* name : {"qwen3-vl-2b", "qwen3-vl-30b-a3b", "qwen3-omni-30b-a3b"}) {
    Model model = load_model(name);
    model.in_maxtext = false;
    EXPECT_THAT(load_model(words_for(model).name).run_arguments, testing::IsEmpty()) << name;
  }
}

TEST(NearestModel, NamesWhatDiffers) {
  Model model = from_huggingface("llama3-8b");
  model.layers = 40;
  model.emb = 5120;
  const ModelWords words = words_for(model);
  EXPECT_EQ(load_model(words.name).decoder_block.kind, DecoderBlockKind::llama2);
  EXPECT_THAT(words.overrides, AllOf(Contains(Pair("base_num_decoder_layers", "40")), Contains(Pair("base_emb_dim", "5120")),
                                     Contains(Pair("rope_max_timescale", "500000"))));
}

TEST(NearestModel, StandsForAModelWhoseNameMaxTextRefuses) {
  const Model model = load_model("llama3-405b");
  const ModelWords words = words_for(model);
  EXPECT_EQ(words.name, "llama3-70b");
  EXPECT_THAT(words.overrides, Contains(Pair("base_num_decoder_layers", "126")));
  EXPECT_THAT(notes_of(model).front().reason, HasSubstr("lacks it"));
}

TEST(NearestModel, SaysWhatNoArgumentSays) {
  Model model = load_model("olmo3-7b");
  model.in_maxtext = false;
  model.name = "mine";
  model.use_pre_norm = true;
  ASSERT_EQ(words_for(model).unsaid.size(), 1U);
  EXPECT_EQ(words_for(model).unsaid.front().field, "use_pre_norm");
  EXPECT_THAT(notes_of(model).back().reason, HasSubstr("MaxText is told olmo3-7b, the nearest"));
}

Model mine(const std::string& like) {
  Model model = load_model(like);
  model.in_maxtext = false;
  model.name = "mine";
  return model;
}

std::vector<std::string> unsaid_of(const Model& model) {
  std::vector<std::string> fields;
  for (const ModelNote& note : words_for(model).unsaid) fields.push_back(note.field);
  return fields;
}

/// Every field that differs is an argument or is named.
TEST(NearestModel, SaysOrNamesEveryField) {
  Model locals = mine("gemma4-e4b");
  locals.attention_pattern.locals_per_period = 2;
  EXPECT_THAT(unsaid_of(locals), testing::ElementsAre("local_layers_per_global"));
  struct Row {
    const char* like;
    const char* field;
    bool Model::*member;
    const char* instead;
  };
  for (const auto& [like, field, member, instead] :
       {Row{"deepseek3-671b", "yarn_rotation", &Model::yarn_rotation, "rope_type=…"},
        Row{"mistral-7b", "interleaved_rotation", &Model::interleaved_rotation, "rope_type=…"},
        Row{"gemma2-9b", "caps_logits", &Model::caps_logits, "final_logits_soft_cap=…"},
        Row{"gemma2-9b", "caps_scores", &Model::caps_scores, "attn_logits_soft_cap=…"},
        Row{"gpt3-6b", "layer_norm", &Model::layer_norm, "no argument of MaxText"}}) {
    Model model = mine(like);
    EXPECT_THAT(unsaid_of(model), testing::IsEmpty()) << like;
    model.*member = !(model.*member);
    EXPECT_THAT(unsaid_of(model), testing::ElementsAre(field)) << like;
    EXPECT_THAT(words_for(model).unsaid.front().reason, HasSubstr(instead)) << like;
  }
  Model capped = mine("gemma2-9b");
  capped.caps_logits = false;
  capped.inner_values = {{"final_logits_soft_cap", "0"}};
  EXPECT_THAT(unsaid_of(capped), testing::IsEmpty()) << "its file has the value";
}

/// Of gemma4-e4b with the wide feed-forward that only e2b has the word is said; e2b's attention is another.
TEST(NearestModel, IsFirstTheOneWhoseRestNeedNotBeSaid) {
  Model wide = mine("gemma4-e4b");
  wide.use_double_wide_mlp = true;
  EXPECT_EQ(words_for(wide).name, "gemma4-e4b");
  EXPECT_THAT(words_for(wide).overrides, Contains(Pair("use_double_wide_mlp", "true")));
  EXPECT_THAT(unsaid_of(wide), testing::IsEmpty());
}

TEST(NearestModel, InnerValuesAreKeysOfMaxText) {
  for (const char* name : {"llama3-8b", "deepseek3-671b", "gemma2-9b", "gemma3-1b", "gpt-oss-20b"})
    for (const auto& [key, value] : from_huggingface(name).inner_values)
      EXPECT_EQ(role_of(key), ArgumentRole::ignored) << name << ": " << key;
}

TEST(ModelYaml, HasTheModelUnderMaxTextsKeys) {
  const std::string text = model_yaml(from_huggingface("gemma3-1b"));
  EXPECT_THAT(text, AllOf(HasSubstr("\ndecoder_block: gemma3\n"), HasSubstr("\nbase_emb_dim: 1152\n"),
                          HasSubstr("\nsliding_window_size: 512\n"), HasSubstr("\nmlp_activations: [gelu,linear]\n"),
                          HasSubstr("base_config: base.yml"), testing::Not(HasSubstr("kv_lora_rank"))));
}

TEST(ModelYaml, SaysWhatItDoesNotKnow) {
  Model mine = load_model("llama3-8b");
  mine.in_maxtext = false;
  EXPECT_THAT(model_yaml(mine), AllOf(HasSubstr("MaxText's defaults hold"), HasSubstr("\nrope_max_timescale: 500000\n")));
  EXPECT_THAT(model_yaml(from_huggingface("llama3-8b")), testing::Not(HasSubstr("MaxText's defaults hold")));
}

// The file stands in the place of MaxText's own of that name: what that one says beside it would be gone.
TEST(ModelYaml, HasWhatItShadows) {
  Model wide = from_huggingface("gpt-oss-20b");
  wide.layers = 20;
  const std::string text = model_yaml(wide);
  EXPECT_THAT(text, AllOf(HasSubstr("\nbase_num_decoder_layers: 20\n"), HasSubstr("\nmlp_activations_limit: 7.0\n"),
                          HasSubstr("\nenable_dropout: false\n")));
  EXPECT_EQ(text.find("\nhead_dim:"), text.rfind("\nhead_dim:")) << "each key once";
}

}  // namespace
}  // namespace shardplan
