// The table of keys itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <models/model_overrides.hpp>
#include <arguments/keys/argument_table.hpp>

#include <tests/unit/reading.hpp>

namespace shardplan {
namespace {

TEST(ArgumentTable, KnowsAllOfBaseYmlOnce) {
  EXPECT_GT(argument_names().size(), 690U);  // a key in two tables is an InternalError
  for (const char* key : {"run_name", "steps", "base_output_directory", "dataset_path", "enable_checkpointing",
                          "sa_block_q", "adam_b1", "profiler", "tokenizer_path", "learning_rate"})
    EXPECT_EQ(role_of(key), ArgumentRole::ignored) << key;
}

TEST(ArgumentTable, KnowsEveryDimThatAModelHas) {
  for (const auto& key : model_dims()) EXPECT_EQ(role_of(key), ArgumentRole::model_dim) << key;
  for (const auto& row : model_dim_arguments()) EXPECT_TRUE(is_model_dim(row.key)) << row.key;
}

TEST(ArgumentTable, AcceptsWhateverCannotChangeTheProgram) {
  const Configuration plain = read_llama("");
  const Configuration dressed = read_llama(
      "run_name=x steps=10 base_output_directory=gs://b/c dataset_type=synthetic enable_checkpointing=False "
      "sa_block_q=1024 profiler=xplane learning_rate=1e-3 tokenizer_path=a=b");
  EXPECT_EQ(dressed.maxtext_arguments, plain.maxtext_arguments);
}

TEST(ArgumentTable, AcceptsTheDefaultOfWhatIsNotModelled) {
  for (const auto& row : unmodelled_arguments()) {
    const std::string word = std::string(row.key) + "=" + std::string(row.base_default);
    EXPECT_EQ(error_of("model_name=llama2-7b compile_topology=v5p-16 " + word), "") << word;
    const std::string other = std::string(row.key) + "=17";
    EXPECT_NE(error_of("model_name=llama2-7b compile_topology=v5p-16 " + other), "") << other;
  }
  EXPECT_EQ(
      error_of("model_name=llama2-7b compile_topology=v5p-16 quantization=None mtp_num_layers=0 dropout_rate=0.0"), "");
}

}  // namespace
}  // namespace shardplan
