// The table of what MaxText's own files of models set.
#include <gmock/gmock.h>

#include <arguments/keys/argument_table.hpp>
#include <arguments/keys/model_files.hpp>
#include <arguments/words/argument_precedence.hpp>
#include <models/load_model.hpp>
#include <models/model_overrides.hpp>
#include <tests/unit/reading.hpp>

namespace shardplan {
namespace {

TEST(ModelFiles, SayWhatTheModelsHereHave) {
  for (const auto& name : model_names()) {
    const Model model = load_model(name);
    if (!model.in_maxtext) continue;
    for (const auto& row : model_dim_arguments())
      EXPECT_FALSE(has_dim(model, row.key) && contradicts_model_file(name, row.key, std::to_string(row.of(model))))
          << name << " " << row.key;
    for (const auto& row : architecture_arguments())
      EXPECT_FALSE(contradicts_model_file(name, row.key, row.of(model))) << name << " " << row.key;
  }
}

TEST(ModelFiles, SayOnlyWhatIsInThem) {
  ASSERT_NE(value_in_model_file("gpt3-175b", "opt_type"), nullptr);
  EXPECT_EQ(*value_in_model_file("gpt3-175b", "opt_type"), "adam_pax");
  EXPECT_EQ(value_in_model_file("llama2-7b", "opt_type"), nullptr);
  EXPECT_EQ(value_in_model_file("mine", "opt_type"), nullptr);
  EXPECT_TRUE(is_in_model_files("opt_type"));
  EXPECT_FALSE(is_in_model_files("remat_policy"));
}

std::string refusal_of(const std::string& model, const std::string& line) try {
  check_model_file(GivenArguments(words(line), std::nullopt), load_model(model));
  return "";
} catch (const InputError& error) {
  return error.what();
}

// configs/pyconfig.py, validate_no_keys_overridden_twice: whatever the key does to a step.
TEST(ModelFiles, WinOverArgumentsWithoutTheRightTo) {
  const struct {
    const char *model, *line, *refusal;
  } rows[] = {{"gpt3-175b", "adam_b1=0.95", "adam_b1=0.95: gpt3-175b says 0.9; add override_model_config=true"},
              {"llama2-7b", "enable_dropout=True", "enable_dropout=True: llama2-7b says false; add"},
              {"gpt3-175b", "checkpoint_period=100", "checkpoint_period=100: gpt3-175b says 10000; add"},
              {"envy-test", "sparse_matmul=true", "sparse_matmul=true: envy-test says false; add"},
              {"qwen3-vl-2b", "use_multimodal=false", "use_multimodal=false: qwen3-vl-2b says true; add"}};
  for (const auto& [model, line, refusal] : rows)
    EXPECT_THAT(refusal_of(model, line), testing::StartsWith(refusal)) << line;
  EXPECT_EQ(refusal_of("gpt3-175b", "adam_b1=0.90 adam_eps=1e-8 checkpoint_period=10_000 enable_dropout=0"), "");
  EXPECT_EQ(refusal_of("gpt3-175b", "adam_b1=0.95 override_model_config=true"), "");
  EXPECT_EQ(refusal_of("mistral-7b", "adam_b1=0.95"), "") << "its file doesn't say it";
}

}  // namespace
}  // namespace shardplan
