// A MaxText YAML file beside the words of a command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <rules/load_rules.hpp>
#include <tests/unit/own_folder.hpp>
#include <tests/unit/reading.hpp>

namespace shardplan {
namespace {

using testing::HasSubstr;

class ConfigFile : public testing::Test {
 protected:
  Configuration read_with(const std::string& yaml, const std::string& line) {
    std::ofstream(path_) << yaml;
    return read_configuration(words(line), {}, path_);
  }
  std::string error_with(const std::string& yaml, const std::string& line) try {
    read_with(yaml, line);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
  void TearDown() override { std::filesystem::remove(path_); }

  const std::string path_ = own_folder() + testing::UnitTest::GetInstance()->current_test_info()->name() + ".yml";
};

TEST_F(ConfigFile, StandsInForArguments) {
  const auto c = read_with(
      "base_config: base.yml\nmodel_name: llama2-7b\ncompile_topology: v5p-16\nici_tensor_parallelism: 4\n"
      "remat_policy: 'custom'\nout_proj: device\nsteps: 10\n",
      "");
  EXPECT_EQ(describe(c.mesh), "fsdp=2,tensor=4");
  EXPECT_EQ(c.config.saved.at("out_proj"), SavePlace::device);
}

TEST_F(ConfigFile, YieldsToTheCommandLine) {
  const auto c =
      read_with("model_name: llama2-7b\ncompile_topology: v5p-16\nmax_target_length: 1024\n", "max_target_length=4096");
  EXPECT_EQ(c.config.max_target_length, 4096);
}

// As it would be lost in a command that does without the file.
TEST_F(ConfigFile, SaysWithWhatItTrains) {
  const std::string of_base = "steps: 150_001\nlearning_rate: 0.00003\nenable_checkpointing: yes\nhf_path: ''\n";
  const std::string machine = "model_name: llama2-7b\ncompile_topology: v5p-16\n";
  const auto passed = [&](const std::string& more, const std::string& line) {
    return read_with(machine + more, line).passed_arguments;
  };
  EXPECT_EQ(passed(of_base, ""), PassedArguments{}) << "a copy of base.yml";
  EXPECT_EQ(passed("learning_rate: 1.e-4\ndataset_path: gs://Data\nhf_access_token: secret\n", "steps=20"),
            (PassedArguments{{"dataset_path", "gs://Data"},
                             {"hf_access_token", "${HF_TOKEN?}"},
                             {"learning_rate", "1.e-4"},
                             {"steps", "20"}}));
  EXPECT_EQ(passed("wandb_project_name: MaxText\n", ""), (PassedArguments{{"wandb_project_name", "MaxText"}}))
      << "base.yml's is maxtext";
  EXPECT_EQ(passed("normalization_layer_epsilon: 1.e-7\n", ""), PassedArguments{}) << "llama2-7b's own file wins over it";
  EXPECT_EQ(passed("override_model_config: true\n", ""), PassedArguments{}) << "of no effect in a file";
}

TEST_F(ConfigFile, MayLeaveTheModelToTheCommandLine) {
  const std::string file = "model_name: given-on-the-command-line\ncompile_topology: v5p-16\n";
  EXPECT_EQ(read_with(file, "model_name=llama2-7b").model.name, "llama2-7b");
  EXPECT_THAT(error_with(file, ""), HasSubstr("it leaves the model to the command line: give --model FILE"));
}

const Rule norm_on_fsdp = {"norm", {"fsdp"}}, kv_whole = {"kv", {}}, mlp_on_tensor = {"mlp", {"tensor"}};

/// base.yml < the file, whose list replaces < the model's own rules (llama2: norm) < the command line's, both merged.
TEST_F(ConfigFile, ReplacesTheRulesOfBaseYml) {
  const struct {
    const char* what;
    const char *yaml, *line;
    std::vector<Rule> rules;
  } rows[] = {
      {"the model's own rules are merged", "logical_axis_rules: [['norm', ['tensor']], ['kv', []]]\n",
       "model_name=llama2-7b", {kv_whole, norm_on_fsdp}},
      {"a model without rules of its own", "logical_axis_rules: [['kv', []]]\n", "model_name=mixtral-8x7b", {kv_whole}},
      {"an empty list is one too", "logical_axis_rules: []\n", "model_name=llama2-7b", {norm_on_fsdp}},
      {"override is for the model's file and the command line",
       "override_logical_axis_rules: true\nlogical_axis_rules: [['kv', []]]\n", "model_name=llama2-7b",
       {kv_whole, norm_on_fsdp}},
      {"words are merged behind the model's", "logical_axis_rules: [['kv', []]]\n",
       "model_name=mixtral-8x7b logical_axis_rules=[[mlp,[tensor]]]", {kv_whole, mlp_on_tensor}},
      {"or replace all", "logical_axis_rules: [['kv', []]]\n",
       "model_name=mixtral-8x7b logical_axis_rules=[[mlp,[tensor]]] override_logical_axis_rules=true", {mlp_on_tensor}},
      {"and the model's own", "logical_axis_rules: [['kv', []]]\n",
       "model_name=llama2-7b logical_axis_rules=[[norm,[tensor]]] override_model_config=true",
       {kv_whole, {"norm", {"tensor"}}}},
  };
  for (const auto& [what, yaml, line, rules] : rows) {
    const Configuration c = read_with(yaml, line + std::string(" compile_topology=v5p-16"));
    EXPECT_EQ(c.rules.rules, rules) << what;
    EXPECT_EQ(read(printed(c)).rules.rules, rules) << what << ": " << printed(c);
  }
}

TEST_F(ConfigFile, ReplacesMeshAxesUnlessTheModelSaysOthers) {
  const auto c = read_with("mesh_axes: [data, fsdp, tensor]\ndata_sharding: [[fsdp, data]]\n",
                           "model_name=llama2-7b compile_topology=v5p-16");
  EXPECT_THAT(c.rules.mesh_axes, testing::ElementsAre("data", "fsdp", "tensor"));
  EXPECT_THAT(c.rules.data_sharding, testing::ElementsAre("fsdp", "data"));
  EXPECT_GT(c.rules.rules.size(), 70U) << "base.yml's";
}

TEST_F(ConfigFile, StandsOnTheFileThatItNames) {
  const std::string below = own_folder() + "below.yml";
  const auto with_below = [&](const std::string& lower, const std::string& upper) {
    std::ofstream(below) << lower;
    return read_with("base_config: below.yml\n" + upper, "model_name=mixtral-8x7b compile_topology=v5p-16");
  };
  const std::string lower = "base_config: base.yml\nmax_target_length: 1024\nper_device_batch_size: 3\n"
                            "logical_axis_rules: [['kv', []], ['mlp', ['tensor']]]\n";
  const Configuration over = with_below(lower, "max_target_length: 4096\nlogical_axis_rules: [['kv', ['tensor']]]\n");
  EXPECT_EQ(over.config.max_target_length, 4096);
  EXPECT_EQ(over.config.per_device_batch_size, 3);
  EXPECT_EQ(over.rules.rules, (std::vector<Rule>{{"kv", {"tensor"}}}));
  EXPECT_EQ(with_below(lower, "").rules.rules, (std::vector<Rule>{kv_whole, mlp_on_tensor}));
  EXPECT_THAT([&] { with_below("base_config: " + path_ + "\n", ""); },
              testing::ThrowsMessage<InputError>(HasSubstr("leads back to this file")));
  EXPECT_THAT([&] { with_below("max_target_length: long\n", ""); },
              testing::ThrowsMessage<InputError>(HasSubstr("below.yml: max_target_length=long")));
  EXPECT_THAT(error_with("base_config: sft.yml\n", ""), HasSubstr("base_config=sft.yml: no such file beside it"));
  std::filesystem::remove(below);
}

TEST_F(ConfigFile, IsQuietAboutRulesThatHoldAnyway) {
  const auto c = read_with(rules_yaml("default"), "model_name=llama2-7b compile_topology=v5p-16");  // as a copy of base.yml
  EXPECT_TRUE(c.rule_changes.rules.empty());
  EXPECT_THAT(printed(c), testing::Not(HasSubstr("logical_axis_rules")));
}

TEST_F(ConfigFile, MayRepeatTheDefaultsOfBaseYml) {
  const auto c = read_with(
      "base_num_decoder_layers: 16\ndecoder_block: 'llama2'\nhardware: 'tpu'\nnum_experts: 1\nuse_iota_embed: False\n"
      "compile_topology_num_slices: -1\nquantization: ''\nweight_sparsity_n: null\n",
      "model_name=mixtral-8x7b compile_topology=v5p-16");
  EXPECT_EQ(c.model.layers, 32);
}

TEST_F(ConfigFile, SaysWhatIsWrongAndWhere) {
  const std::string line = "model_name=mixtral-8x7b compile_topology=v5p-16";
  EXPECT_THAT(error_with("remat_polcy: full\n", line),
              HasSubstr("SaysWhatIsWrongAndWhere.yml: remat_polcy=full: unknown"));
  EXPECT_THAT(error_with("max_target_length: long\n", line),
              HasSubstr("max_target_length=long: expected a whole number"));
  EXPECT_THAT(error_with("quantization: int4\n", line), HasSubstr("quantization=int4: MaxText does not start"));
  EXPECT_THAT(error_with("base_num_decoder_layers: 4\n", line),
              HasSubstr("mixtral-8x7b says 32, and wins over a file"));
  EXPECT_THAT(error_with("logits_dot_in_fp32: true\n", "model_name=gpt3-6b compile_topology=v5p-16"),
              HasSubstr("gpt3-6b says false, and wins over a file"));
  EXPECT_THAT(error_with("steps: 1\nsteps: 2\n", line), HasSubstr("steps"));
  EXPECT_THAT(error_with("- a\n- b\n", line), HasSubstr("expected MaxText keys and values"));
  EXPECT_THAT(error_with("steps: {a: 1}\n", line), HasSubstr("not a mapping"));
  EXPECT_THAT(error_with("a: [b\n", line), HasSubstr("SaysWhatIsWrongAndWhere.yml"));
}

TEST(MissingConfigFile, IsAnInputError) {
  EXPECT_THROW(read_configuration(words("model_name=llama2-7b"), {}, "/no/such/file.yml"), InputError);
}

}  // namespace
}  // namespace shardplan
