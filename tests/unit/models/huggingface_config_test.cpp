// tests/data/models/huggingface holds the public config.json of each model (huggingface.co), without the keys that
// speak of tokens and generation.
#include <gmock/gmock.h>

#include <chrono>
#include <formats/strict_json.hpp>
#include <models/load_model.hpp>
#include <models/parameter_count.hpp>
#include <shardplan/error.hpp>

#include "model_text.hpp"

namespace shardplan {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

std::string path_of(const std::string& name) { return TEST_DATA "/models/huggingface/" + name + ".json"; }

/// The model without what its file says beside its layers.
Model layers_of(Model model) {
  model.in_maxtext = false;
  model.note.clear();
  model.run_arguments.clear();
  model.memory_error_high = 0;
  model.memory_error_source.clear();
  model.inner_values.clear();
  model.left_out.clear();
  return model;
}

std::string left_out_of(const Model& model) {
  std::string text;
  for (const auto& [field, reason] : model.left_out) text += field + ": " + reason + "\n";
  return text;
}

TEST(HuggingFaceConfig, IsTheSameModelAsTheBuiltIn) {
  for (const char* name : {"llama3-8b", "mistral-7b", "mixtral-8x7b", "qwen2.5-7b", "qwen3-4b", "qwen3-30b-a3b",
                           "deepseek2-16b", "deepseek3-671b", "deepseek3.2-671b", "kimi-k2-1t", "gpt-oss-20b",
                           "olmo3-7b", "qwen3-next-80b-a3b", "llama4-17b-16e", "llama4-17b-128e", "qwen3.5-35b-a3b",
                           "qwen3.5-397b-a17b", "qwen3-vl-4b", "gemma4-26b", "gemma4-31b", "gemma4-e2b",
                           "gemma4-e4b", "deepseek4-284b"}) {
    EXPECT_TRUE(layers_of(load_model(path_of(name))) == layers_of(load_model(name))) << name;
  }
}

TEST(HuggingFaceConfig, GemmaDiffersOnlyInMaxTextsPaddedVocabulary) {
  for (const char* name : {"gemma-7b", "gemma2-9b"}) {
    Model model = load_model(path_of(name));
    EXPECT_EQ(model.vocab, 256000) << name;
    model.vocab = 256128;
    EXPECT_TRUE(layers_of(model) == layers_of(load_model(name))) << name;
  }
}

TEST(HuggingFaceConfig, ReadsAModelThatIsNotBuiltIn) {
  const Model model = load_model(path_of("gemma3-1b"));
  EXPECT_EQ(model.name, "gemma3-1b");
  EXPECT_EQ(model.decoder_block.kind, DecoderBlockKind::gemma3);
  EXPECT_EQ(model.attention_pattern, (AttentionPattern{512, 5}));
  EXPECT_TRUE(model.tied_embedding);
  EXPECT_TRUE(model.use_qk_norm);
}

// What a text_config leaves out is transformers' default for the class: heads, head_dim and vocabulary of Gemma 3 4B.
TEST(HuggingFaceConfig, ReadsTheTextDecoderOfAModelWithTowers) {
  Model gemma = load_model(path_of("gemma3-4b"));
  EXPECT_EQ(gemma.vocab, 262208);
  gemma.vocab = 262144;
  EXPECT_TRUE(layers_of(gemma) == layers_of(load_model("gemma3-4b")));
  EXPECT_THAT(left_out_of(gemma), HasSubstr("vision_config: the tower is left out"));
  const Model mistral = load_model(path_of("mistral-small-3.1"));
  EXPECT_EQ(mistral.layers, 40);
  EXPECT_EQ(mistral.mlp, 32768);
  EXPECT_EQ(left_out_of(mistral), "vision_config: the tower is left out: planned is the text decoder\n");
}

// Whether the embedding is tied the whole model says, not its text_config.
TEST(HuggingFaceConfig, ReadsTheExpertsOfQwen3VL) {
  Model model = load_model(path_of("qwen3-vl-30b-a3b"));
  EXPECT_FALSE(model.tied_embedding);
  model.scan_layers = false;  // of MaxText's file
  EXPECT_TRUE(layers_of(model) == layers_of(load_model("qwen3-vl-30b-a3b")));
}

// Attention over a window as long as the sequences is attention over all of them.
TEST(HuggingFaceConfig, ReadsOlmo2AsOlmo3WithWindowsAsLongAsAnySequence) {
  const Model model = load_model(path_of("olmo2-1b"));
  EXPECT_EQ(model.decoder_block.kind, DecoderBlockKind::olmo3);
  EXPECT_EQ(model.attention_pattern, (AttentionPattern{std::int64_t{1} << 28, 3}));
  EXPECT_TRUE(model.qk_norm_over_all_heads);
}

// The positions of the nearest MaxText model would hold where nothing is said (kimi-k2-1t has YaRN).
TEST(HuggingFaceConfig, SaysItsKindOfPositions) {
  using testing::Contains, testing::Pair;
  EXPECT_THAT(load_model(path_of("llama3-8b")).inner_values, Contains(Pair("rope_type", "default")));
  const auto yarn = replaced(read_file(path_of("llama3-8b")), R"("rope_scaling": null)",
                             R"("rope_scaling": {"type": "yarn", "factor": 32.0, "beta_fast": 1, "mscale": 0.707})");
  const Model model = load_model(write_file("yarn.json", yarn));
  EXPECT_THAT(load_model(path_of("llama3-8b")).inner_values, Contains(Pair("rope_linear_scaling_factor", "1")));
  for (const auto& value : {std::pair("rope_type", "yarn"), {"rope_factor", "32"}, {"beta_fast", "1"}, {"mscale", "0.707"}})
    EXPECT_THAT(model.inner_values, Contains(Pair(value.first, value.second)));
}

// It looks them up by position under YaRN alone; other attention doesn't have the field.
TEST(HuggingFaceConfig, LatentAttentionSaysWhetherItHasYarn) {
  EXPECT_TRUE(load_model(path_of("deepseek2-16b")).yarn_rotation);
  const auto plain = replaced(read_file(path_of("deepseek2-16b")), R"("type": "yarn")", R"("type": "default")");
  EXPECT_FALSE(load_model(write_file("plain.json", plain)).yarn_rotation);
  const auto yarn = replaced(read_file(path_of("llama3-8b")), R"("rope_scaling": null)",
                             R"("rope_scaling": {"type": "yarn", "factor": 32.0})");
  EXPECT_FALSE(load_model(write_file("yarn.json", yarn)).yarn_rotation);
}

TEST(HuggingFaceConfig, SaysWhatMaxTextDoesOtherwise) {
  const auto rotating = [](const std::string& part) {
    const std::string more = R"("rope_scaling": null, "partial_rotary_factor": )" + part;
    const std::string config = replaced(read_file(path_of("llama3-8b")), R"("rope_scaling": null)", more);
    return left_out_of(load_model(write_file("part.json", config)));
  };
  EXPECT_THAT(rotating("0.5"), HasSubstr("partial_rotary_factor: left out: MaxText rotates whole heads"));
  EXPECT_EQ(rotating("1.0"), "");
}

// MaxText's defaults of YaRN are those of DeepSeek's latent attention; gpt-oss doesn't round its range, Qwen does.
TEST(HuggingFaceConfig, TurnsHalvesUnderYarnOutsideLatentAttention) {
  using testing::Contains, testing::Pair;
  const auto with_yarn = [](const std::string& more) {
    const std::string rope = R"("rope_scaling": {"rope_type": "yarn", "factor": 4.0)" + more + "}";
    return load_model(write_file("yarn.json", replaced(read_file(path_of("llama3-8b")), R"("rope_scaling": null)", rope)));
  };
  const Model plain = with_yarn("");
  for (const auto& value : {std::pair("rope_interleave", "false"), {"rope_truncate", "true"},
                            {"rope_attention_scaling", "true"}, {"beta_fast", "32"}, {"beta_slow", "1"}})
    EXPECT_THAT(plain.inner_values, Contains(Pair(value.first, value.second)));
  EXPECT_EQ(left_out_of(plain), "");
  EXPECT_THAT(with_yarn(R"(, "truncate": false)").inner_values, Contains(Pair("rope_truncate", "false")));
  EXPECT_THAT(with_yarn(R"(, "attention_factor": 1.0)").inner_values, Contains(Pair("rope_attention_scaling", "false")));
  EXPECT_THAT(left_out_of(with_yarn(R"(, "attention_factor": 1.5)")),
              HasSubstr("an attention factor of 1.5: MaxText scales by 1.139 or, as taken here, not at all"));
  EXPECT_THAT(load_model(path_of("deepseek3-671b")).inner_values, testing::Not(Contains(Pair("rope_interleave", "false"))));
}

// Gemma 3 scales the positions of its global layers, and so does MaxText's rope_linear_scaling_factor for it; transformers 5
// says global and local layers apart.
TEST(HuggingFaceConfig, KeepsPositionsThatAreScaledLinearly) {
  using testing::Contains, testing::Pair;
  const Model gemma = load_model(path_of("gemma3-4b"));
  EXPECT_THAT(gemma.inner_values, Contains(Pair("rope_linear_scaling_factor", "8")));
  EXPECT_THAT(left_out_of(gemma), testing::Not(HasSubstr("rope_scaling")));
  const auto apart = replaced(read_file(path_of("gemma3-4b")), R"("rope_scaling": {
      "factor": 8.0,
      "rope_type": "linear"
    })",
                              R"("rope_parameters": {
                                   "full_attention": {"rope_type": "linear", "factor": 4.0, "rope_theta": 1e6},
                                   "sliding_attention": {"rope_type": "default", "rope_theta": 1e4}})");
  const Model newer = load_model(write_file("apart.json", apart));
  for (const auto& value : {std::pair("rope_linear_scaling_factor", "4"), {"rope_max_timescale", "1000000"},
                            {"local_rope_max_timescale", "10000"}})
    EXPECT_THAT(newer.inner_values, Contains(Pair(value.first, value.second)));
  EXPECT_THAT(left_out_of(newer), testing::Not(HasSubstr("rope")));
}

// 32 layers of 3072·9216 + 3072² + 3·3072·8192 weights and two tables of 32064·3072: 3.82e9.
TEST(HuggingFaceConfig, ReadsPhi3AsLlama) {
  const Model model = load_model(path_of("phi3-mini"));
  EXPECT_EQ(model.decoder_block.kind, DecoderBlockKind::llama2);
  EXPECT_EQ(matrix_parameters(model), 32LL * (3072 * 9216 + 3072 * 3072 + 3 * 3072 * 8192) + 2 * 32064 * 3072);
  EXPECT_THAT(left_out_of(model), HasSubstr("sliding_window: left out: MaxText attends globally here"));
}

// Llama 2's configurations don't say it; MaxText's nearest model, llama3-8b, has another.
TEST(HuggingFaceConfig, WithoutRopeThetaHasThatOfItsClass) {
  const std::string llama = read_file(path_of("llama3-8b"));
  const auto begin = llama.find("\"rope_theta\""), end = llama.find(',', begin) + 1;
  ASSERT_NE(begin, std::string::npos);
  const Model model = load_model(write_file("theta.json", llama.substr(0, begin) + llama.substr(end)));
  EXPECT_THAT(model.inner_values, testing::Contains(testing::Pair("rope_max_timescale", "10000")));
  EXPECT_THAT(load_model(path_of("llama3-8b")).inner_values,
              testing::Contains(testing::Pair("rope_max_timescale", "500000")));
}

TEST(HuggingFaceConfig, SaysWhatIsLeftOut) {
  EXPECT_THAT(left_out_of(load_model(path_of("deepseek3-671b"))),
              AllOf(HasSubstr("num_nextn_predict_layers: the multi-token prediction layers"),
                    HasSubstr("quantization_config (fp8): how the checkpoint stores its weights")));
  EXPECT_THAT(left_out_of(load_model(path_of("gpt-oss-20b"))), HasSubstr("quantization_config (mxfp4): "));
  const auto windowed =
      replaced(read_file(path_of("mistral-7b")), R"("sliding_window": null)", R"("sliding_window": 4096)");
  EXPECT_EQ(left_out_of(load_model(write_file("windowed.json", windowed))),
            "sliding_window: left out: MaxText attends globally here\n");
  const auto odd = replaced(read_file(path_of("llama3-8b")), R"("hidden_act")", R"("novel_gate": 3, "hidden_act")");
  EXPECT_THAT(left_out_of(load_model(write_file("odd.json", odd))), HasSubstr("novel_gate: not read\n"));
  const auto misspelt =
      replaced(read_file(path_of("llama3-8b")), R"("num_key_value_heads": 8)", R"("num_key_value_head": 8)");
  const Model read = load_model(write_file("misspelt.json", misspelt));
  EXPECT_EQ(read.kv_heads, read.q_heads) << "Llama's class has as many where none are said";
  EXPECT_THAT(left_out_of(read), HasSubstr("num_key_value_head: not read; nearest: num_key_value_heads"));
}

// MaxText's Llama 3.1 turns neighbouring features, its Llama 3 halves.
TEST(HuggingFaceConfig, KnowsTheLongerPositionsOfLlama3_1) {
  for (const char* rope : {R"("rope_scaling": {"rope_type": "llama3", "factor": 8.0})",
                           R"("rope_parameters": {"rope_type": "llama3", "rope_theta": 500000.0})"}) {
    const auto text = replaced(read_file(path_of("llama3-8b")), R"("rope_scaling": null)", rope);
    Model model = load_model(write_file("longer.json", text));
    model.name = "llama3.1-8b";
    EXPECT_TRUE(layers_of(model) == layers_of(load_model("llama3.1-8b"))) << rope;
    EXPECT_THAT(model.inner_values, testing::Contains(testing::Pair("rope_type", "llama3.1")));
    EXPECT_EQ(left_out_of(model), "");
  }
}

// Llama 3.2's factor; MaxText's llama3.1 positions have 8.
TEST(HuggingFaceConfig, SaysWhichPositionsOfLlama3MaxTextCantBeTold) {
  const auto text = replaced(read_file(path_of("llama3-8b")), R"("rope_scaling": null)",
                             R"("rope_scaling": {"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0,
                                                 "high_freq_factor": 4.0, "original_max_position_embeddings": 8192})");
  const Model model = load_model(write_file("llama32.json", text));
  EXPECT_THAT(model.inner_values, testing::Contains(testing::Pair("rope_type", "llama3.1")));
  EXPECT_THAT(left_out_of(model), StartsWith("rope_scaling: factor 32 (MaxText: 8): no argument of MaxText says it;"));
}

// As MaxText's own files of them: Scout scales its positions, Maverick doesn't.
TEST(HuggingFaceConfig, Llama4TurnsNeighbouringFeaturesAndScalesThemWhereItSaysSo) {
  struct {
    const char* rope;
    const char* scaled;
    const char* left_out;
  } const rows[] = {
      {R"("rope_scaling": {"rope_type": "llama3", "factor": 8.0})", "true", ""},
      {R"("rope_scaling": {"rope_type": "llama3", "factor": 16.0})", "true", "factor 16 (MaxText: 8): no argument"},
      {R"("rope_scaling": null)", "false", ""},
      {R"("rope_parameters": {"rope_type": "default", "rope_theta": 500000.0})", "false", ""}};
  for (const auto& [rope, scaled, left_out] : rows) {
    const auto text = replaced(read_file(path_of("llama4-17b-16e")), R"("rope_theta": 500000.0)",
                               std::string(R"("rope_theta": 500000.0, )") + rope);
    const Model model = load_model(write_file("llama4.json", text));
    EXPECT_TRUE(model.interleaved_rotation) << rope;
    EXPECT_THAT(model.inner_values, AllOf(testing::Contains(testing::Pair("rope_type", "llama3.1")),
                                          testing::Contains(testing::Pair("rope_use_scale", scaled)),
                                          testing::Not(testing::Contains(testing::Pair("rope_type", "default")))));
    EXPECT_THAT(left_out_of(model), HasSubstr(left_out)) << rope;
    EXPECT_EQ(left_out_of(model).find("rope") == std::string::npos, std::string(left_out).empty()) << rope;
  }
}

TEST(HuggingFaceConfig, KeepsValuesInsideLayersUnderMaxTextsNames) {
  const auto values = load_model(path_of("llama3-8b")).inner_values;
  EXPECT_THAT(values, testing::Contains(testing::Pair("rope_max_timescale", "500000")));
  EXPECT_THAT(values, testing::Contains(testing::Pair("normalization_layer_epsilon", "1e-05")));
  EXPECT_THAT(load_model("llama3-8b").inner_values, testing::IsEmpty());
}

struct Change {
  const char* model;
  const char* from;
  const char* to;
  const char* message;
};

TEST(HuggingFaceConfig, RejectsWhatMaxTextHasNoLayerFor) {
  const Change table[] = {
      {"deepseek3.2-671b", R"("index_topk": 2048)", R"("index_top": 2048)", "key 'index_topk' is missing"},
      {"llama3-8b", "LlamaForCausalLM", "Starcoder2ForCausalLM", "unknown architecture 'Starcoder2ForCausalLM'"},
      {"llama3-8b", "LlamaForCausalLM", "BertModel", "'BertModel'; known: LlamaForCausalLM, Llama4ForCausalLM"},
      {"mixtral-8x7b", R"("num_key_value_heads": 8,)", "", "'num_key_value_heads' must be given"},
      {"gemma2-9b", R"("num_key_value_heads")", R"("num_key_value_head")", "'num_key_value_heads' must be given"},
      {"qwen3-30b-a3b", R"("num_key_value_heads": 4,)", "", "'num_key_value_heads' must be given"},
      {"glm4.5", "glm4_moe", "glm4_moe", "Glm4MoeForCausalLM has DeepSeek's experts behind grouped-query attention"},
      {"olmo2-1b", R"("num_hidden_layers": 16)", R"("num_hidden_layers": 18)",
       "'num_hidden_layers' must be a multiple of 4"},
      {"gemma3-4b", R"("text_config": {)", R"("text_config": [1], "spare": {)", "'text_config' must be an object"},
      {"llama3-8b", R"(["LlamaForCausalLM"])", "[]", "'architectures' must be a list of one"},
      {"llama3-8b", R"("attention_bias": false)", R"("attention_bias": true)", "'attention_bias' must be false"},
      {"llama3-8b", R"("hidden_act": "silu")", R"("hidden_act": "relu2")", "'hidden_act' must be silu"},
      {"llama3-8b", R"("hidden_size": 4096)", R"("hidden_size": -4096)", "'hidden_size' must be at least 1"},
      {"llama3-8b", R"("hidden_size": 4096)", R"("hidden_size": 4097)", "'hidden_size' must be a multiple"},
      {"llama3-8b", R"("hidden_size": 4096)", R"("hidden_dim": 4096)", "key 'hidden_size' is missing"},
      {"llama3-8b", R"("hidden_size": 4096)", R"("hidden_size": "4096")", "'hidden_size' must be a whole number"},
      {"llama3-8b", R"("num_key_value_heads": 8)", R"("num_key_value_heads": 5)",
       "'num_key_value_heads' must be a divisor of num_attention_heads=32"},
      {"qwen2.5-7b", R"("use_sliding_window": false)", R"("use_sliding_window": true)",
       "'use_sliding_window' must be false"},
      {"qwen3-4b", R"("attention_bias": false)", R"("attention_bias": true)", "'attention_bias' must be false"},
      {"qwen3-30b-a3b", R"("decoder_sparse_step": 1)", R"("decoder_sparse_step": 2)",
       "'decoder_sparse_step' must be 1"},
      {"qwen3-30b-a3b", R"("mlp_only_layers": [])", R"("mlp_only_layers": [0])", "'mlp_only_layers' must be empty"},
      {"deepseek3-671b", R"("first_k_dense_replace": 3)", R"("first_k_dense_replace": 0)",
       "'first_k_dense_replace' must be at least 1, or intermediate_size the same as moe_intermediate_size"},
      {"deepseek3-671b", R"("moe_layer_freq": 1)", R"("moe_layer_freq": 2)", "'moe_layer_freq' must be 1"},
      {"gpt-oss-20b", R"(["sliding_attention", "full_attention", )", R"(["full_attention", "full_attention", )",
       "'layer_types' must be 1 sliding_attention to 1 full_attention"},
      {"gemma2-9b", R"("num_hidden_layers": 42)", R"("num_hidden_layers": 41)", "'num_hidden_layers' must be even"},
      {"gemma3-1b", R"("sliding_window_pattern": 6)", R"("sliding_window_pattern": 4)",
       "'sliding_window_pattern' must be 6"},
      {"llama3-8b", R"("hidden_act")", R"("num_local_experts": 8, "hidden_act")", "'num_local_experts' must be absent"},
      {"llama3-8b", R"("architectures")", R"("architecture")", "'architectures' must be given"},
      {"qwen3-next-80b-a3b", R"("hidden_act")", R"("layer_types": ["full_attention", "full_attention"], "hidden_act")",
       "'layer_types' must be 3 linear_attention to 1 full_attention"},
      {"gemma4-26b", R"("layer_types": [)", R"("layer_types": ["sliding_attention", )",
       "'layer_types' must be 6 sliding_attention to 1"},
      {"llama4-17b-16e", R"("interleave_moe_layer_step": 1)", R"("interleave_moe_layer_step": 0)",
       "'interleave_moe_layer_step' must be at least 1"},
      {"qwen3-next-80b-a3b", R"("full_attention_interval": 4)", R"("full_attention_interval": 0)",
       "'full_attention_interval' must be at least 1"},
      {"llama3-8b", R"("intermediate_size")", R"("moe_intermediate_size")", "key 'intermediate_size' is missing"},
      {"gemma4-26b", R"("top_k_experts": 8)", R"("top_k": 8)", "key 'top_k_experts' is missing"},
      {"qwen3.5-35b-a3b", R"("attn_output_gate": true)", R"("attn_output_gate": false)", "'attn_output_gate' must be true"},
      {"deepseek4-284b", R"("qk_rope_head_dim": 64)", R"("qk_rope_head_dim": 32)", "'qk_rope_head_dim' must be 64"},
      {"llama4-17b-16e", R"("hidden_act")", R"("no_rope_layers": [1, 1, 1, 1], "hidden_act")",
       "'no_rope_layers' must be three of four"},
      {"qwen3-4b", R"("head_dim": 128)", R"("head_dim": null)", "'head_dim' must be given"},
      {"qwen3-next-80b-a3b", R"("head_dim": 256)", R"("head_dim": null)", "'head_dim' must be given"},
      {"gpt-oss-20b", R"("num_hidden_layers": 24)", R"("num_hidden_layers": 26)",
       "'layer_types' must be as many as num_hidden_layers"},
      {"llama3-8b", R"("rope_theta": 500000.0)", R"("rope_theta": "abc")", "'rope_theta' must be a number above 0"},
      {"llama3-8b", R"("rope_theta": 500000.0)", R"("rope_theta": -1)", "'rope_theta' must be a number above 0"},
      {"llama3-8b", R"("rope_theta": 500000.0)", R"("rope_parameters": {"rope_theta": 0})",
       "'rope_parameters' must be with a rope_theta above 0"},
      {"llama3-8b", R"("rope_theta": 500000.0)", R"("rope_parameters": {"rope_type": "llama3", "rope_theta": "x"})",
       "'rope_parameters' must be with a rope_theta above 0"},
      {"llama3-8b", R"("rope_scaling": null)", R"("rope_scaling": {"type": "linear", "factor": -4})",
       "'rope_scaling' must be with a factor above 0, as linear scales by one"},
      {"llama3-8b", R"("rope_scaling": null)", R"("rope_scaling": {"type": "yarn"})",
       "'rope_scaling' must be with a factor above 0, as yarn scales by one"},
      {"deepseek3-671b", R"("n_group": 8)", R"("n_group": 7)", "'n_group' must be a divisor of n_routed_experts=256"},
      {"deepseek3-671b", R"("topk_group": 4)", R"("topk_group": 9)", "'topk_group' must be no more than n_group=8"},
      {"deepseek3-671b", R"("scoring_func": "sigmoid")", R"("scoring_func": "softmaxx")",
       "'scoring_func' must be one of softmax, sigmoid, sqrtsoftplus"},
  };
  for (const auto& [model, from, to, message] : table) {
    const std::string path = write_file("changed.json", replaced(read_file(path_of(model)), from, to));
    EXPECT_THAT([&] { load_model(path); }, ThrowsMessage<InputError>(AllOf(StartsWith(path), HasSubstr(message))))
        << model << ": " << from << " → " << to;
  }
}

/// Llama4TextConfig of transformers takes an empty list for its default, every fourth layer without rotation.
TEST(HuggingFaceConfig, TakesAnEmptyListOfLayersWithoutRotationForTheUsualOne) {
  const std::string text =
      replaced(read_file(path_of("llama4-17b-16e")), R"("hidden_act")", R"("no_rope_layers": [], "hidden_act")");
  const std::string path = write_file("llama4.json", text);
  Model model = load_model(path);
  Model usual = load_model(path_of("llama4-17b-16e"));
  usual.name = model.name;
  EXPECT_EQ(model, usual);
}

// Fifteen gigabytes of numbers were listed before the size was looked at.
TEST(HuggingFaceConfig, RefusesABillionLayersBeforeItListsThem) {
  const std::string text =
      replaced(read_file(path_of("llama4-17b-16e")), R"("num_hidden_layers": 48)", R"("num_hidden_layers": 1000000000)");
  const std::string path = write_file("llama4.json", text);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT([&] { load_model(path); }, ThrowsMessage<InputError>(HasSubstr("parameters are more than shardplan can")));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

TEST(HuggingFaceConfig, IsNamedAfterItsDirectoryWhenCalledConfig) {
  const std::string path = write_file("config.json", read_file(path_of("llama3-8b")));
  const Model model = load_model(path);
  EXPECT_FALSE(model.name.empty());
  EXPECT_NE(model.name, "config");
}

}  // namespace
}  // namespace shardplan
