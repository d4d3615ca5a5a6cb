// A MaxText YAML file beside the words of a command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

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

  const std::string path_ = testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name() + ".yml";
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

TEST_F(ConfigFile, MayLeaveTheModelToTheCommandLine) {
  const std::string file = "model_name: given-on-the-command-line\ncompile_topology: v5p-16\n";
  EXPECT_EQ(read_with(file, "model_name=llama2-7b").model.name, "llama2-7b");
  EXPECT_THAT(error_with(file, ""), HasSubstr("which model? give model_name=NAME"));
}

TEST_F(ConfigFile, MergesItsRules) {
  const auto c = read_with("logical_axis_rules: [['norm', ['tensor']], ['kv', []]]\n",
                           "model_name=llama2-7b compile_topology=v5p-16");
  EXPECT_EQ(c.rules.rules.back(), (Rule{"kv", {}}));
}

TEST_F(ConfigFile, IsQuietAboutRulesThatHoldAnyway) {
  const auto c = read_with("logical_axis_rules: [['norm', 'fsdp']]\n", "model_name=llama2-7b compile_topology=v5p-16");
  EXPECT_TRUE(c.rule_changes.rules.empty());  // llama2's own file says so too
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
