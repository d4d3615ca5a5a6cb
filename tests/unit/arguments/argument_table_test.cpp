// The table of keys itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <arguments/keys/key_file.hpp>
#include <arguments/keys/key_members.hpp>
#include <models/model_overrides.hpp>
#include <shardplan/mesh/axis_role.hpp>

#include <tests/unit/reading.hpp>

namespace shardplan {
namespace {

TEST(ArgumentTable, KnowsAllOfBaseYmlOnce) {
  EXPECT_GT(argument_names().size(), 690U);  // a key in two tables is an InternalError
  for (const char* key : {"run_name", "steps", "base_output_directory", "dataset_path", "enable_checkpointing",
                          "adam_b1", "profiler", "tokenizer_path", "learning_rate"})
    EXPECT_EQ(role_of(key), ArgumentRole::ignored) << key;
}

TEST(ArgumentTable, NamesTheMaxTextItWasReadFrom) {
  EXPECT_EQ(key_source().repository, "AI-Hypercomputer/maxtext");
  EXPECT_EQ(key_source().commit.size(), 40U);
}

TEST(ArgumentTable, KnowsWhatEachMeshAxisIsFor) {
  for (const auto& row : axis_arguments()) EXPECT_NE(axis_role(row.axis), AxisRole::other) << row.axis;
}

TEST(ArgumentTable, GivesEveryKeyOneRole) {
  std::vector<std::string> keys;
  for (const auto& row : setting_arguments()) keys.push_back(row.key);
  for (const auto& row : special_arguments()) keys.push_back(row.key);
  for (const auto& row : model_dim_arguments()) keys.push_back(row.key);
  for (const auto& row : architecture_arguments()) keys.push_back(row.key);
  for (const auto& row : remat_arguments()) keys.push_back(row.key);
  for (const auto& row : unmodelled_arguments()) keys.push_back(row.key);
  for (const auto& topic : ignored_topics()) keys.insert(keys.end(), topic.keys.begin(), topic.keys.end());
  for (const auto& row : axis_arguments())
    for (const char* network : {"ici", "dcn"}) keys.push_back(axis_key(network, row.axis));
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(keys, argument_names());
}

TEST(ArgumentTable, HasARowForEveryMember) {
  EXPECT_EQ(setting_arguments().size(), setting_members());
  EXPECT_EQ(model_dim_arguments().size(), model_dim_members());
  EXPECT_EQ(architecture_arguments().size(), architecture_members());
  EXPECT_THROW(setting_member("no_such_setting"), InternalError);
}

// Given as arguments, the defaults of base.yml change nothing: TrainConfig has the same ones.
TEST(ArgumentTable, SharesItsDefaultsWithTrainConfig) {
  const Configuration plain = read_llama("");
  for (const auto& row : setting_arguments()) {
    const Configuration same = read_llama(row.key + "=" + row.base_default);
    EXPECT_EQ(printed(same), printed(plain)) << row.key;
  }
}

TEST(ArgumentTable, IsReadStrictly) {
  const auto error = [](const std::string& text) {
    try {
      parse_key_file(text, "keys.json");
    } catch (const InputError& wrong) {
      return std::string(wrong.what());
    }
    return std::string("nothing wrong");
  };
  EXPECT_THAT(error("{}"), testing::HasSubstr("maxtext"));
  EXPECT_THAT(error(R"({"maxtext": {"repository": "r", "commit": "c", "date": "d", "branch": "b"}})"),
              testing::HasSubstr("branch"));
}

TEST(ArgumentTable, KnowsEveryDimThatAModelHas) {
  for (const auto& key : model_dims()) EXPECT_EQ(role_of(key), ArgumentRole::model_dim) << key;
  for (const auto& row : model_dim_arguments()) EXPECT_TRUE(is_model_dim(row.key)) << row.key;
}

TEST(ArgumentTable, AcceptsWhateverCannotChangeTheProgram) {
  const Configuration plain = read_llama("");
  const Configuration dressed = read_llama(
      "run_name=x steps=10 base_output_directory=gs://b/c dataset_type=synthetic enable_checkpointing=False "
      "profiler=xplane tokenizer_path=a=b");
  EXPECT_EQ(printed(dressed), printed(plain) + " base_output_directory=gs://b/c dataset_type=synthetic "
                                               "enable_checkpointing=False profiler=xplane run_name=x steps=10 "
                                               "tokenizer_path=a=b");
}

TEST(ArgumentTable, LeavesStepsOfOtherPlansOut) {
  EXPECT_EQ(printed(read_llama("compiled_trainstep_file=step.pickle")), printed(read_llama("")));
}

TEST(ArgumentTable, HidesCredentialsFromWhereTheyAreRead) {
  EXPECT_EQ(printed(read_llama("hf_access_token=secret")), printed(read_llama("")) + " hf_access_token=${HF_TOKEN?}");
  const GivenArguments given(words("hf_access_token=secret"), std::nullopt);
  EXPECT_EQ(given.find("hf_access_token")->text, "${HF_TOKEN?}");
  EXPECT_EQ(given.find("hf_access_token")->place, "hf_access_token=${HF_TOKEN?}");
  EXPECT_EQ(error_of("model_name=llama2-7b hf_access_token=secret hf_access_token=other"),
            "hf_access_token is given twice: '${HF_TOKEN?}' and '${HF_TOKEN?}'");
}

TEST(ArgumentTable, HasTheDefaultsOfWhatCommandsRepeat) {
  for (const IgnoredTopic& topic : ignored_topics())
    EXPECT_EQ(topic.in_commands, !topic.base_defaults.empty()) << topic.what;
  EXPECT_EQ(topic_of("learning_rate")->base_defaults.at("learning_rate"), "3.e-5");
  EXPECT_EQ(topic_of("run_name")->base_defaults.at("run_name"), "");
}

TEST(ArgumentTable, RepeatsWhatSaysHowIsTrained) {
  EXPECT_EQ(printed(read_llama("muon_beta=0.9 sa_block_kv=1024 use_tokamax_splash=true learning_rate=1e-3")),
            printed(read_llama("sa_block_kv=1024 use_tokamax_splash=true")) + " learning_rate=1e-3 muon_beta=0.9");
  EXPECT_EQ(printed(read_llama("base_emb_dim=8192 override_model_config=true")).find("override_model_config=true"),
            printed(read_llama("base_emb_dim=8192 override_model_config=true")).rfind("override_model_config=true"))
      << "once";
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
