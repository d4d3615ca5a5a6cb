// model_name and the dims that are changed for one run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <arguments/plan_arguments.hpp>
#include <models/load_model.hpp>
#include <models/programs/train_program.hpp>
#include <shardplan/error.hpp>

#include <tests/unit/reading.hpp>

namespace shardplan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::ThrowsMessage;

TEST(ModelArguments, OverrideDims) {
  const Configuration c = read_mixtral("base_num_decoder_layers=4 override_model_config=True");
  EXPECT_EQ(c.model.layers, 4);
  EXPECT_EQ(load_model("mixtral-8x7b").layers, 32);
  EXPECT_THAT(c.model_overrides, ElementsAre(Pair("base_num_decoder_layers", 4)));
  EXPECT_THAT(printed(c), HasSubstr("base_num_decoder_layers=4 override_model_config=true"));
}

TEST(ModelArguments, ScaleTheLogitsOfATiedHead) {
  const std::string gemma = "model_name=gemma-7b compile_topology=v6e-256";
  EXPECT_TRUE(read(gemma).model.scales_logits);
  const Configuration plain = read(gemma + " normalize_embedding_logits=false");
  EXPECT_FALSE(plain.model.scales_logits);
  EXPECT_FALSE(read(printed(plain)).model.scales_logits);
  EXPECT_FALSE(read("model_name=qwen3-4b compile_topology=v6e-256").model.scales_logits);
}

/// What a tied model that MaxText has no name for is started with.
TEST(ModelArguments, TieTheHeadToTheEmbedding) {
  EXPECT_THAT(error_of("model_name=llama3-8b compile_topology=v5p-16 logits_via_embedding=true"),
              HasSubstr("llama3-8b says false; add override_model_config=true to override it"));
  const Configuration c = read(
      "model_name=llama3-8b compile_topology=v5p-16 logits_via_embedding=true override_model_config=true");
  EXPECT_TRUE(c.model.tied_embedding);
  EXPECT_THAT(printed(c), HasSubstr("logits_via_embedding=true override_model_config=true"));
  EXPECT_TRUE(read(printed(c)).model.tied_embedding);
}

/// What a Llama with another activation is printed as.
TEST(ModelArguments, GiveTheFeedForwardOtherActivations) {
  const std::string gelu = "model_name=llama3-8b compile_topology=v5p-16 mlp_activations=[gelu,linear]";
  EXPECT_THAT(error_of(gelu),
              HasSubstr("llama3-8b says [silu,linear]; add override_model_config=true to override it"));
  const Configuration c = read(gelu + " override_model_config=true");
  EXPECT_THAT(c.model.mlp_activations, testing::ElementsAre("gelu", "linear"));
  EXPECT_EQ(read(printed(c)).model, c.model);
  EXPECT_EQ(read("model_name=llama3-8b compile_topology=v5p-16 mlp_activations=[silu,linear]").model,
            read("model_name=llama3-8b compile_topology=v5p-16").model);
}

/// By MaxText's default, but where the model's file says otherwise.
TEST(ModelArguments, ScaleTheLogitsOfAHeadThatTheyTie) {
  const auto scales = [](const std::string& words) {
    return read("compile_topology=v5p-16 override_model_config=true logits_via_embedding=true " + words).model.scales_logits;
  };
  EXPECT_TRUE(scales("model_name=llama3-8b"));
  EXPECT_FALSE(scales("model_name=llama3-8b normalize_embedding_logits=false"));
  EXPECT_FALSE(scales("model_name=qwen3-8b")) << "its file, in which the head is untied, says false";
  EXPECT_TRUE(scales("model_name=qwen3-8b normalize_embedding_logits=true"));
}

/// Caps are operations of their own: gemma2's can be left out, llama's put in; mixtral's scores have none.
TEST(ModelArguments, CapLogitsAndScores) {
  const auto model = [](const std::string& words) { return read("compile_topology=v5p-16 " + words).model; };
  const Model gemma =
      model("model_name=gemma2-9b attn_logits_soft_cap=0 final_logits_soft_cap=None override_model_config=true");
  EXPECT_FALSE(gemma.caps_scores || gemma.caps_logits);
  EXPECT_TRUE(model("model_name=llama2-7b final_logits_soft_cap=30.0").caps_logits);
  EXPECT_FALSE(model("model_name=llama2-7b final_logits_soft_cap=0.0").caps_logits);
  const auto program = [&](const std::string& words) { return reference_program(model(words), 2048); };
  EXPECT_FALSE(program("model_name=llama2-7b attn_logits_soft_cap=50.0") == program("model_name=llama2-7b"));
  EXPECT_TRUE(program("model_name=mistral-7b attn_logits_soft_cap=50.0") == program("model_name=mistral-7b"));
}

/// MaxText's Llama 3.1 turns neighbouring features by its name, Llama 4 by its file, DeepSeek looks YaRN's table up.
TEST(ModelArguments, TurnFeaturesAsTheTypeSays) {
  const auto model = [](const std::string& words) {
    return read("compile_topology=v5p-128 override_model_config=true model_name=" + words).model;
  };
  EXPECT_TRUE(model("deepseek2-16b").yarn_rotation);
  EXPECT_FALSE(model("deepseek2-16b rope_type=default").yarn_rotation);
  EXPECT_TRUE(model("llama3-8b rope_type=llama3.1").interleaved_rotation);
  EXPECT_TRUE(model("llama3.1-8b rope_type=default").interleaved_rotation);
  EXPECT_FALSE(model("llama4-17b-16e rope_type=default").interleaved_rotation);
  EXPECT_FALSE(model("llama3-8b rope_type=yarn").yarn_rotation) << "of latent attention alone";
}

/// Whatever is said of dims that no layer of the model reads.
TEST(ModelArguments, PassOnDimsOfOtherModels) {
  const std::string qwen = "model_name=qwen3-30b-a3b compile_topology=v5p-16 ";
  for (const char* word : {"v_head_dim=128", "v_head_dim=64", "q_lora_rank=0", "kv_lora_rank=512", "gdn_key_head_dim=64",
                           "global_head_dim=512", "o_groups=8", "indexer_topk=2048", "sliding_window_size=4096"}) {
    const Configuration c = read(qwen + word);
    EXPECT_EQ(c.model, read(qwen).model) << word;
    EXPECT_THAT(printed(c), HasSubstr(word));
    EXPECT_EQ(read(printed(c)).model, c.model);
  }
  EXPECT_TRUE(read(qwen + "first_num_dense_layers=0 trainable_position_size=-1").model_overrides.empty());
  EXPECT_THAT(error_of(qwen + "trainable_position_size=64"), HasSubstr("has no such dim"));
  EXPECT_THAT(error_of(qwen + "v_head_dim=-1"), HasSubstr("has no such dim"));
  EXPECT_THAT(error_of("model_name=deepseek2-16b compile_topology=v5p-16 v_head_dim=64"),
              HasSubstr("deepseek2-16b says 128"));
  EXPECT_EQ(read("model_name=llama2-7b compile_topology=v5p-16 num_experts_per_tok=2").model, load_model("llama2-7b"));
}

/// MaxText builds them beside the mixtures of some decoders alone (layers/moe.py, RoutedAndSharedMoE).
TEST(ModelArguments, ShareExpertsWhereMaxTextDoes) {
  const auto shared = [](const std::string& model) {
    return read("model_name=" + model + " compile_topology=v5p-128 shared_experts=3 override_model_config=true").model;
  };
  EXPECT_EQ(shared("deepseek2-16b").shared_experts, 3);
  EXPECT_EQ(shared("llama4-17b-16e").shared_experts, 3);
  EXPECT_EQ(shared("mixtral-8x7b"), load_model("mixtral-8x7b"));
  EXPECT_EQ(shared("qwen3-next-80b-a3b"), load_model("qwen3-next-80b-a3b")) << "one, whatever is said";
}

TEST(ModelArguments, MayRepeatWhatTheModelSays) {
  const Configuration c = read_mixtral(
      "base_num_decoder_layers=32 num_experts=8 decoder_block=mixtral mlp_activations=['silu','linear'] "
      "attention_type=global logits_via_embedding=False");
  EXPECT_TRUE(c.model_overrides.empty());
}

TEST(ModelArguments, ReadEveryModelledModel) {
  for (const auto& name : model_names()) {
    if (!load_model(name).not_modelled.empty()) continue;
    EXPECT_EQ(error_of("compile_topology=v5p-16 model_name=" + name), "") << name;
  }
}

// base.yml's own model has no file that its arguments would have to win over.
TEST(ModelArguments, ChangeTheModelOfBaseYml) {
  const Configuration c = read("model_name=default compile_topology=v5p-16 base_emb_dim=4096 base_num_decoder_layers=8 "
                               "global_parameter_scale=2");
  EXPECT_EQ(c.model.emb, 4096);
  EXPECT_EQ(c.model.layers, 8);
  EXPECT_EQ(c.model.q_heads, 16 * 2);
  EXPECT_EQ(c.model.mlp, 7168 * 2);
  EXPECT_THAT(printed(c), HasSubstr("model_name=default "));
  EXPECT_THAT(printed(c), Not(HasSubstr("override_model_config")));
  EXPECT_EQ(read(printed(c)).model, c.model);
  const Configuration ungated = read("model_name=default compile_topology=v5p-16 mlp_activations=['relu']");
  EXPECT_THAT(ungated.model.mlp_activations, ElementsAre("relu"));
  EXPECT_THAT(printed(ungated), HasSubstr("mlp_activations=[relu]"));
  EXPECT_THAT(printed(ungated), Not(HasSubstr("override_model_config")));
  EXPECT_EQ(read(printed(ungated)).model, ungated.model);
  const Configuration tied = read("model_name=default compile_topology=v5p-16 logits_via_embedding=true");
  EXPECT_TRUE(tied.model.tied_embedding && tied.model.scales_logits);
  EXPECT_EQ(read(printed(tied)).model, tied.model);
  const Configuration experts = read("model_name=default compile_topology=v5p-16 decoder_block=mixtral num_experts=16 "
                                     "num_experts_per_tok=2 base_mlp_dim=4096 base_moe_mlp_dim=4096");
  EXPECT_EQ(experts.model.decoder_block.kind, DecoderBlockKind::mixtral);
  EXPECT_EQ(experts.model.num_experts, 16);
  EXPECT_EQ(experts.model.top_k, 2);
  EXPECT_EQ(experts.model.moe_mlp, 4096);
  EXPECT_EQ(read(printed(experts)).model, experts.model);
}

// A plan's words change the model as a run's do.
TEST(ModelArguments, ChangeTheModelOfAPlan) {
  const auto planned = [](const std::string& model, const std::vector<std::string>& words) {
    PlanRequest request;
    request.model = load_model(model);
    return with_arguments(std::move(request), GivenArguments(words, std::nullopt));
  };
  const PlanRequest llama = planned("llama2-7b", {"base_emb_dim=2048", "fused_qkv=true", "logits_via_embedding=true",
                                                     "override_model_config=true"});
  EXPECT_EQ(llama.model.emb, 2048);
  EXPECT_TRUE(llama.model.fused_qkv && llama.model.tied_embedding);
  EXPECT_EQ(llama.model_overrides.size(), 3U);
  EXPECT_EQ(planned("default", {"global_parameter_scale=2"}).model.q_heads, 32);
  EXPECT_THAT(planned("default", {"mlp_activations=[relu]"}).model.mlp_activations, ElementsAre("relu"));
  EXPECT_THAT([&] { planned("llama2-7b", {"decoder_block=mixtral"}); },
              ThrowsMessage<InputError>(HasSubstr("llama2-7b says llama2")));
  EXPECT_THAT([&] { planned("mistral-7b", {"base_num_decoder_layers=8"}); },
              ThrowsMessage<InputError>(HasSubstr("mistral-7b says 32; add override_model_config=true to override it")));
}

TEST(RuleArguments, ChangeTheRules) {
  const Configuration c =
      read_llama("logical_axis_rules=[['norm',['tensor']],['mine','data']] override_model_config=true");
  ASSERT_GE(c.rules.rules.size(), 2U);
  EXPECT_EQ(c.rules.rules.back(), (Rule{"mine", {"data"}}));
  EXPECT_EQ(c.rules.rules[c.rules.rules.size() - 2], (Rule{"norm", {"tensor"}}));
  EXPECT_THAT(printed(c), HasSubstr("logical_axis_rules=[[norm,[tensor]],[mine,[data]]]"));
  const auto again = read(printed(c));
  EXPECT_EQ(again.rules.rules, c.rules.rules);
}

/// configs/pyconfig.py, validate_no_keys_overridden_twice: llama2's file has a rule for norm.
TEST(RuleArguments, ContradictTheModelsOwnOnlyWhereTheyMay) {
  EXPECT_THAT(error_of("model_name=llama2-7b compile_topology=v5p-16 logical_axis_rules=[[mlp,[tensor]]]"),
              HasSubstr("logical_axis_rules: MaxText's file of llama2-7b says others; add override_model_config=true"));
  EXPECT_EQ(error_of("model_name=llama2-7b compile_topology=v5p-16 logical_axis_rules=[[norm,[fsdp]]]"), "");
  const Configuration c = read_llama("logical_axis_rules=[[mlp,[tensor]]] override_model_config=true");
  const Configuration usual = read("model_name=mixtral-8x7b compile_topology=v5p-16 logical_axis_rules=[[mlp,[tensor]]]");
  EXPECT_EQ(c.rules.rules, usual.rules.rules) << "without llama2's own rule";
  EXPECT_THAT(printed(c), HasSubstr("override_model_config=true"));
}

TEST(RuleArguments, LayTheBatchOverAxesOfTheMesh) {
  EXPECT_THAT(error_of("model_name=llama2-7b compile_topology=v5p-16 data_sharding=[[data,fsdpp]]"),
              HasSubstr("data_sharding: unknown mesh axis 'fsdpp'; nearest: fsdp"));
  EXPECT_THAT(read_llama("data_sharding=[[data,fsdp]]").rules.data_sharding, ElementsAre("data", "fsdp"));
}

TEST(RuleArguments, ReplaceTheRules) {
  const Configuration c = read_llama(
      "logical_axis_rules=[['embed','fsdp']] override_logical_axis_rules=True override_model_config=true");
  EXPECT_THAT(c.rules.rules, ElementsAre(Rule{"embed", {"fsdp"}}));
  EXPECT_EQ(read(printed(c)).rules.rules, c.rules.rules);
}

// configs/types.py, get_individual_scales: 16 = 2^4 is a cycle of three doublings and one more, of heads and MLP.
TEST(ModelArguments, GlobalParameterScaleMultipliesDims) {
  const Model model = read_llama("global_parameter_scale=16 base_num_decoder_layers=4 override_model_config=true").model;
  EXPECT_EQ(model.q_heads, 32 * 4);
  EXPECT_EQ(model.mlp, 11008 * 4);
  EXPECT_EQ(model.emb, 4096 * 2);
  EXPECT_EQ(model.layers, 4 * 2);
  EXPECT_EQ(read_llama("global_parameter_scale=1").model.emb, 4096);
  EXPECT_THAT(error_of("model_name=llama2-7b compile_topology=v5p-16 global_parameter_scale=3"),
              testing::HasSubstr("must be a power of two"));
}

}  // namespace
}  // namespace shardplan
