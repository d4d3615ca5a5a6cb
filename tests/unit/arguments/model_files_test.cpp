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

}  // namespace
}  // namespace shardplan
