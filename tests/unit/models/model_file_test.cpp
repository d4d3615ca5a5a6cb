// Everything that can be wrong with a model file, one row each.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <models/load_model.hpp>
#include <shardplan/error.hpp>

#include "model_text.hpp"

namespace shardplan {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

const std::string dense = R"({
  "source": "made up", "name": "toy", "decoder_block": "llama2",
  "layers": 4, "emb": 64, "q_heads": 8, "kv_heads": 2, "head_dim": 8, "mlp": 256, "vocab": 1000
})";

const std::string experts = R"({
  "source": "made up", "name": "toy-moe", "decoder_block": "deepseek", "attention_type": "mla",
  "layers": 4, "emb": 64, "q_heads": 8, "kv_heads": 8, "mlp": 256, "vocab": 1000,
  "num_experts": 8, "top_k": 2, "moe_mlp": 32, "first_dense_layers": 1,
  "kv_lora_rank": 16, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "v_head_dim": 8
})";

struct Mistake {
  const std::string& text;
  const char* from;
  const char* to;
  const char* message;
};

void expect_message(const Mistake& mistake) {
  const std::string path = write_file("mistake.json", replaced(mistake.text, mistake.from, mistake.to));
  EXPECT_THAT([&] { load_model(path); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("mistake.json"), HasSubstr(mistake.message))))
      << mistake.from << " → " << mistake.to;
}

TEST(ModelFile, TheFilesBelowAreRightUntilChanged) {
  EXPECT_EQ(load_model(write_file("dense.json", dense)).name, "toy");
  EXPECT_EQ(load_model(write_file("experts.json", experts)).moe_layers(), 3);
}

TEST(ModelFile, FillsInTheDefaultsOfBaseYml) {
  const Model model = load_model(write_file("defaults.json", replaced(dense, R"("head_dim": 8, )", "")));
  EXPECT_EQ(model.head_dim, 128);
  EXPECT_EQ(model.mlp_activations, (std::vector<std::string>{"silu", "linear"}));
  EXPECT_EQ(model.max_target_length, 2048);
  EXPECT_EQ(model.capacity_factor, -1.0);
  EXPECT_FALSE(model.has_experts());
  EXPECT_FALSE(model.opt_type.has_value());
}

TEST(ModelFile, RejectsWhatItCannotRead) {
  const Mistake mistakes[] = {
      {dense, R"("layers": 4)", R"("layres": 4)", "key 'layers' is missing"},
      {dense, R"("head_dim": 8)", R"("haed_dim": 8)", "unknown key 'haed_dim'; nearest: head_dim"},
      {dense, R"("layers": 4)", R"("layers": 4, "layers": 5)", "key 'layers' occurs twice"},
      {dense, R"("emb": 64, )", "", "key 'emb' is missing"},
      {dense, R"("source": "made up", )", "", "key 'source' is missing"},
      {dense, R"("vocab": 1000)",
       R"("vocab": 1000)"
       "\n} trailing",
       "not valid JSON"},
      {dense,
       R"("vocab": 1000)"
       "\n}",
       R"("vocab": 10)", "not valid JSON"},
      {dense, R"("emb": 64)", R"("emb": 64.5)", "'emb' must be a whole number"},
      {dense, R"("emb": 64)", R"("emb": "64")", "'emb' must be a whole number"},
      {dense, R"("name": "toy")", R"("name": 7)", "'name' must be a string"},
      {dense, R"("emb": 64)", R"("emb": 64, "use_qk_norm": 1)", "'use_qk_norm' must be true or false"},
      {dense, R"("emb": 64)", R"("emb": 64, "cycle_interval": 9999999999)", "'cycle_interval' must be a small whole"},
      {dense, R"("emb": 64)", R"("emb": 64, "mlp_activations": "silu")", "'mlp_activations' must be a list"},
      {dense, R"("emb": 64)", R"("emb": 64, "attention_type": "globl")",
       "unknown attention_type 'globl'; nearest: global"},
      {dense, "llama2", "lama2", "unknown decoder_block 'lama2'; nearest: llama2"},
      {dense, "llama2", "perceptron", "unknown decoder_block 'perceptron'; known: llama2, mistral, mixtral, "},
  };
  for (const auto& mistake : mistakes) expect_message(mistake);
}

TEST(ModelFile, RejectsWhatIsNoModelAtAll) {
  const std::pair<const char*, const char*> table[] = {
      {"[]", "expected an object"},
      {"null", "expected an object"},
      {"{", "not valid JSON"},
      {"{}", "no model: expected a model file (name, decoder_block, layers, …"},
      {R"({"decoder_block": "llama2"})", "key 'source' is missing"},
      {R"({"architectures": "LlamaForCausalLM"})", "'architectures' must be a list"},
  };
  for (const auto& [text, message] : table) {
    const std::string path = write_file("no_model.json", text);
    EXPECT_THAT([&] { load_model(path); }, ThrowsMessage<InputError>(AllOf(HasSubstr(path), HasSubstr(message))))
        << text;
  }
}

TEST(ModelFile, RejectsRulesOfAnotherForm) {
  const auto with_rules = [](const std::string& rules) {
    return replaced(dense, R"("emb": 64)", R"("emb": 64, "model_rules": )" + rules);
  };
  const std::pair<const char*, const char*> table[] = {
      {R"([["norm", ["fsdp"]]])", "'model_rules' must be an object"},
      {R"({"rules": [["norm", ["fsdp"]]]})", "model_rules: key 'override_rules' is missing"},
      {R"({"override_rules": false, "rules": [["norm", "fsdp"]]})", "'rules' must be a list of"},
      {R"({"override_rules": false, "rules": [["norm"]]})", "'rules' must be a list of"},
      {R"({"override_rules": false, "rules": [], "mesh_axis": []})", "model_rules: unknown key 'mesh_axis'"},
  };
  for (const auto& [rules, message] : table) {
    const std::string path = write_file("rules.json", with_rules(rules));
    EXPECT_THAT([&] { load_model(path); }, ThrowsMessage<InputError>(HasSubstr(message))) << rules;
  }
}

/// They were read, and no command had them.
TEST(ModelFile, RejectsRunArgumentsOfModelsThatMaxTextHasNot) {
  expect_message({dense, R"("emb": 64)", R"("emb": 64, "run_arguments": {"use_multimodal": "false"})",
                  "run_arguments: only models that MaxText has are told some; leave them out, and give use_multimodal=false "
                  "beside --model"});
  EXPECT_FALSE(load_model("qwen3-vl-2b").run_arguments.empty());
}

TEST(ModelFile, RejectsDimsThatContradictEachOther) {
  const Mistake mistakes[] = {
      {dense, R"("kv_heads": 2)", R"("kv_heads": 3)", "q_heads=8 must be a multiple of kv_heads=3"},
      {dense, R"("layers": 4)", R"("layers": 0)", "layers must be at least 1, not 0"},
      {dense, R"("kv_heads": 2)", R"("kv_heads": 0)", "kv_heads must be at least 1, not 0"},
      {dense, R"("emb": 64)", R"("emb": -64)", "emb must be at least 1, not -64"},
      {dense, R"("name": "toy")", R"("name": "")", "name must not be empty"},
      {dense, R"("emb": 64)", R"("emb": 64, "mlp_activations": [])", "mlp_activations must name at least one"},
      {dense, R"("emb": 64)", R"("emb": 64, "mlp_activations": ["slu"])", "unknown activation 'slu'; nearest: silu"},
      {dense, R"("emb": 64)", R"("emb": 64, "sliding_window_size": 16)",
       "sliding_window_size=16 and local_layers_per_global=0 must both"},
      {dense, R"("emb": 64)", R"("emb": 64, "num_experts": 8, "moe_mlp": 256, "top_k": 2)", "'llama2' has no experts"},
      {dense, R"("emb": 64)", R"("emb": 64, "cycle_interval": 3)", "layers=4 must be a multiple of cycle_interval=3"},
      {dense, R"("vocab": 1000)", R"("vocab": 9000000000000000000)", "parameters are more than shardplan can count"},
      {dense, "llama2", "deepseek4", "sliding_window_size must be at least 1, not 0"},
      {dense, "llama2", "gemma3", "'gemma3' has local_layers_per_global=5, not 0"},
      {dense, R"("emb": 64)", R"("emb": 64, "sliding_window_size": 16, "local_layers_per_global": 1)",
       "'llama2' has local_layers_per_global=0, not 1"},
      {dense, R"("emb": 64)", R"("emb": 64, "sublayers_per_layer": 2)", "'llama2' has sublayers_per_layer=1, not 2"},
      {experts, R"("kv_heads": 8)", R"("kv_heads": 4)", "mla attention needs q_heads=8 and kv_heads=4 to be equal"},
      {experts, R"("kv_lora_rank": 16, )", "", "kv_lora_rank must be at least 1, not 0"},
      {experts, R"("moe_mlp": 32, )", "", "key 'moe_mlp' is missing"},
      {experts, R"("moe_mlp": 32)", R"("moe_mlp": 0)", "moe_mlp must be at least 1 in a model with 8 experts, not 0"},
      {experts, R"("top_k": 2, )", "", "key 'top_k' is missing"},
      {experts, R"("top_k": 2)", R"("top_k": 9)", "top_k=9 is more than num_experts=8"},
      {experts, R"("top_k": 2)", R"("top_k": 2, "capacity_factor": 1e18)", "capacity_factor=1e+18: more than num_experts=8"},
      {experts, R"("first_dense_layers": 1)", R"("first_dense_layers": 4)", "leaves none of 4 layers for experts"},
      {experts, R"("first_dense_layers": 1)", R"("first_dense_layers": 0)", "mlp=256 must equal moe_mlp=32"},
      {experts, R"("num_experts": 8)", R"("num_experts": 1)", "'deepseek' needs at least 2 experts"},
      {dense, R"("head_dim": 8)", R"("head_dim": 1)", "head_dim must be even, not 1"},
      {dense, R"("head_dim": 8)", R"("head_dim": 8, "global_head_dim": 5)", "global_head_dim must be even, not 5"},
      {experts, R"("qk_rope_head_dim": 4)", R"("qk_rope_head_dim": 3)", "qk_rope_head_dim must be even, not 3"},
  };
  for (const auto& mistake : mistakes) expect_message(mistake);
}

TEST(ModelFile, TakesHeadsOfAnyWidthWhereNothingRotates) {
  std::string learned = replaced(dense, R"("head_dim": 8)", R"("head_dim": 5, "trainable_position_size": 2048)");
  EXPECT_EQ(load_model(write_file("learned.json", learned)).head_dim, 5);
}

/// As of the words fused_qkv=true and fused_mlp=true: what MaxText refuses is no other model.
TEST(ModelFile, RejectsSwitchesThatTheLayersDoNotHave) {
  for (const auto& [name, flag] : {std::pair{"gemma4-e4b", "fused_qkv"}, {"qwen3-next-80b-a3b", "fused_qkv"},
                                   {"deepseek2-16b", "fused_qkv"}, {"deepseek3-671b-batchsplit", "fused_mlp"}}) {
    const std::string file = replaced(model_json(name), "\"layers\":", fmt::format("\"{}\": true, \"layers\":", flag));
    EXPECT_THAT([&] { load_model(write_file("flag.json", file)); },
                ThrowsMessage<InputError>(HasSubstr(fmt::format("{}: the layers of decoder block", flag)))) << name;
  }
}

// A dense layer in front costs another model; only DeepSeek's decoder makes one.
TEST(ModelFile, RejectsFirstDenseLayersWhereTheDecoderMakesNone) {
  for (const char* name : {"mixtral-8x7b", "qwen3-30b-a3b", "gpt-oss-20b", "llama4-17b-16e", "gemma4-26b",
                           "qwen3-custom-30b-a3b", "qwen3-next-80b-a3b", "envy-test", "llama2-7b"}) {
    const std::string file = replaced(model_json(name), "\"layers\":", "\"first_dense_layers\": 1, \"layers\":");
    EXPECT_THAT([&] { load_model(write_file("dense_first.json", file)); },
                ThrowsMessage<InputError>(HasSubstr(
                    fmt::format("first_dense_layers: the layers of decoder block '{}' don't have it",
                                load_model(name).decoder_block.name)))) << name;
  }
}

// Its dense branch, which every token has, is as wide as shared_experts say: of none there is no such layer.
TEST(ModelFile, RejectsGemma4WithExpertsAndNoDenseBranch) {
  const std::string gemma4 = R"({
    "source": "made up", "name": "toy-gemma4", "decoder_block": "gemma4", "sliding_window_size": 16,
    "local_layers_per_global": 5, "layers": 6, "emb": 64, "q_heads": 8, "kv_heads": 2, "head_dim": 8, "mlp": 256,
    "vocab": 1000, "num_experts": 8, "top_k": 2, "moe_mlp": 32, "shared_experts": 1
  })";
  EXPECT_EQ(load_model(write_file("gemma4.json", gemma4)).shared_experts, 1);
  expect_message({gemma4, R"(, "shared_experts": 1)", "", "'gemma4' needs shared_experts of at least 1 beside its experts"});
}

// Weights that mix the streams grow with their cube; each head of an n-gram looks for a prime number of its own.
TEST(ModelFile, RejectsMoreStreamsAndHeadsOfNGramsThanCanBeCounted) {
  const auto with = [](const std::string& streams, const std::string& bases, const std::string& heads) {
    return fmt::format(R"("emb": 64, "mhc_expansion_rate": {}, "engram_layers": [1], "engram_vocab_bases": [{}],
                       "engram_num_heads": {}, "engram_head_dim": 8, "engram_kernel_size": 4)", streams, bases, heads);
  };
  const char* emb = R"("emb": 64)";
  EXPECT_EQ(load_model(write_file("n-grams.json", replaced(experts, emb, with("4", "1000", "8")))).engram_num_heads, 8);
  expect_message({experts, emb, with("100000", "1000", "8").c_str(), "mhc_expansion_rate must be at most 1024, not 100000"});
  expect_message({experts, emb, with("4", "1000", "100000").c_str(), "engram_num_heads must be at most 1024, not 100000"});
  expect_message({experts, emb, with("4", "1000000000", "8").c_str(), "make a table of 8.0e+09 rows"});
  const std::string wide = replaced(with("1000", "1000", "8"), emb, R"("emb": 100000000)");
  expect_message({experts, emb, wide.c_str(), "parameters are more than shardplan can count"});
}

}  // namespace
}  // namespace shardplan
