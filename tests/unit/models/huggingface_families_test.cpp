// Architectures that are built like one of MaxText's under another name, and those that are not.
#include <gmock/gmock.h>

#include <formats/strict_json.hpp>
#include <models/decoder_block.hpp>
#include <models/load_model.hpp>
#include <models/parameter_count.hpp>
#include <shardplan/error.hpp>

#include "model_text.hpp"

namespace shardplan {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

Model model_of(const std::string& architecture, const std::string& keys) {
  return load_model(write_file("family.json", R"({"architectures": [")" + architecture + R"("], "hidden_act": "silu",
    "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "attention_dropout": 0.0, )" + keys + "}"));
}

std::string notes_in(const Model& model) {
  std::string text;
  for (const auto& [field, reason] : model.left_out) text += field + ": " + reason + "\n";
  return text;
}

// Published parameters: 7,737,708,544 and 360,748,032.
TEST(HuggingFaceFamilies, ReadsWhatIsBuiltLikeLlama) {
  const Model internlm = model_of("InternLM2ForCausalLM", R"("bias": false, "hidden_size": 4096, "intermediate_size": 14336,
    "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "tie_word_embeddings": false,
    "vocab_size": 92544)");
  EXPECT_EQ(internlm.decoder_block.kind, DecoderBlockKind::llama2);
  EXPECT_EQ(parameters(internlm), 7'737'708'544);
  const Model ernie = model_of("Ernie4_5ForCausalLM", R"("use_bias": false, "head_dim": 128, "hidden_size": 1024,
    "intermediate_size": 3072, "num_attention_heads": 16, "num_hidden_layers": 18, "num_key_value_heads": 2,
    "vocab_size": 103424)");
  EXPECT_TRUE(ernie.tied_embedding) << "its class ties them where nothing is said";
  EXPECT_EQ(parameters(ernie), 360'748'032);
  EXPECT_THAT([] { model_of("InternLM2ForCausalLM", R"("bias": true)"); },
              ThrowsMessage<InputError>(HasSubstr("'bias' must be false")));
}

// Published parameters: 36,151,104,512 and, of Qwen2.5-VL's decoder, those of Qwen2.5-7B: 7,615,616,512.
TEST(HuggingFaceFamilies, ReadsWhatIsBuiltLikeQwen2) {
  const std::string seed = R"("attention_out_bias": false, "mlp_bias": false, "head_dim": 128, "hidden_size": 5120,
    "intermediate_size": 27648, "num_attention_heads": 80, "num_hidden_layers": 64, "num_key_value_heads": 8,
    "residual_dropout": 0.1, "tie_word_embeddings": false, "vocab_size": 155136, "attention_bias": )";
  const Model model = model_of("SeedOssForCausalLM", seed + "true");
  EXPECT_EQ(model.decoder_block.kind, DecoderBlockKind::qwen2);
  EXPECT_EQ(parameters(model), 36'151'104'512);
  EXPECT_EQ(notes_in(model), "residual_dropout: dropout is not modelled\n");
  EXPECT_THAT([&] { model_of("SeedOssForCausalLM", seed + "false"); },
              ThrowsMessage<InputError>(HasSubstr("'attention_bias' must be true")));
  const std::string text = R"("hidden_size": 3584, "intermediate_size": 18944, "num_attention_heads": 28,
    "num_hidden_layers": 28, "num_key_value_heads": 4, "vocab_size": 152064, "tie_word_embeddings": false)";
  const std::string tower = R"(, "vision_config": {"depth": 32})";
  const std::string nested = R"("text_config": {"hidden_act": "silu", "architectures": ["X"], )" + text + "}";
  for (const std::string& keys : {text + tower, nested + tower}) {
    const Model vision = model_of("Qwen2_5_VLForConditionalGeneration", keys);
    EXPECT_EQ(parameters(vision), 7'615'616'512);
    EXPECT_THAT(notes_in(vision), AllOf(HasSubstr("vision_config: the tower is left out"), Not(HasSubstr("architectures"))));
  }
}

// ForCausalLM is as long as most names: Falcon was near to Olmo2, Cohere to Phi3.
TEST(HuggingFaceFamilies, AreNearByTheirOwnNames) {
  const auto refusal = [](const std::string& architecture) {
    try {
      model_of(architecture, R"("hidden_size": 1)");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  for (const char* none : {"FalconForCausalLM", "CohereForCausalLM", "DbrxForCausalLM", "GPT2LMHeadModel"})
    EXPECT_THAT(refusal(none), AllOf(HasSubstr("known: LlamaForCausalLM, "), HasSubstr("`shardplan models init"))) << none;
  EXPECT_THAT(refusal("LlamaForSequenceClassification"), HasSubstr("nearest: LlamaForCausalLM"));
  EXPECT_THAT(refusal("LlamaModel"), HasSubstr("nearest: LlamaForCausalLM"));
  EXPECT_THAT(refusal("Gema3ForCausalLM"), HasSubstr("nearest: Gemma3ForCausalLM, Gemma3ForConditionalGeneration"));
  EXPECT_THAT(refusal("OlmoeForCausalLM"), HasSubstr("has norms over all heads of queries and keys before experts"));
}

// Gemma 2's own caps hold where its file says nothing; null is none, and MaxText's nearest model has them.
TEST(HuggingFaceFamilies, SayThatNothingIsCapped) {
  using testing::Contains, testing::Pair;
  const std::string text = replaced(read_file(TEST_DATA "/models/huggingface/gemma2-9b.json"),
                                    R"("attn_logit_softcapping": 50.0)", R"("attn_logit_softcapping": null)");
  const Model model = load_model(write_file("uncapped.json", text));
  EXPECT_FALSE(model.caps_scores);
  EXPECT_TRUE(model.caps_logits);
  EXPECT_THAT(model.inner_values, Contains(Pair("attn_logits_soft_cap", "0")));
}

// Its embedding models attend both ways, MaxText's decoders don't.
TEST(HuggingFaceFamilies, SayWhatOfGemma3IsLeftOut) {
  const std::string text = read_file(TEST_DATA "/models/huggingface/gemma3-1b.json");
  const auto with = [&](const std::string& keys) {
    return load_model(write_file("gemma3.json", replaced(text, R"("hidden_size")", keys + R"(, "hidden_size")")));
  };
  EXPECT_THAT(notes_in(with(R"("use_bidirectional_attention": true)")),
              HasSubstr("use_bidirectional_attention: left out"));
  EXPECT_THAT(notes_in(with(R"("use_bidirectional_attention": false, "_sliding_window_pattern": 6)")),
              AllOf(Not(HasSubstr("bidirectional")), Not(HasSubstr("pattern"))));
  EXPECT_THAT([&] { with(R"("_sliding_window_pattern": 4)"); },
              ThrowsMessage<InputError>(HasSubstr("'_sliding_window_pattern' must be 6")));
}

}  // namespace
}  // namespace shardplan
