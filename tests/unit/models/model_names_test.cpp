// Models as people call them.
#include <gmock/gmock.h>

#include <map>
#include <models/load_model.hpp>
#include <models/model_names.hpp>
#include <shardplan/spelling.hpp>

namespace shardplan {
namespace {

TEST(ModelNames, AreKnownHoweverTheyAreSpelled) {
  const std::pair<const char*, const char*> rows[] = {{"Mixtral-8x7B", "mixtral-8x7b"},
                                                      {"mistralai/Mixtral-8x7B-v0.1", "mixtral-8x7b"},
                                                      {"Llama-3.1-8B", "llama3.1-8b"},
                                                      {"meta-llama/Meta-Llama-3-70B", "llama3-70b"},
                                                      {"deepseek-ai/DeepSeek-V3", "deepseek3-671b"},
                                                      {"GPT-OSS-120B", "gpt-oss-120b"},
                                                      {"Qwen3-30B-A3B", "qwen3-30b-a3b"},
                                                      {"gemma-2-27b", "gemma2-27b"}};
  for (const auto& [called, name] : rows) {
    EXPECT_EQ(model_called(called), name) << called;
    EXPECT_EQ(load_model(called).name, name) << called;
  }
  EXPECT_EQ(model_called("mixtral"), std::nullopt) << "8x7b or 8x22b";
  EXPECT_EQ(model_called(""), std::nullopt);
}

TEST(ModelNames, AreOneModelsEach) {
  std::map<std::string, std::string> owner;
  for (const auto& name : model_names()) {
    auto all = aliases_of(name);
    all.push_back(name);
    for (const auto& alias : all) {
      const auto [known, is_new] = owner.emplace(same_spelling(alias), name);
      EXPECT_TRUE(is_new) << alias << " is a name of " << known->second << " and of " << name;
    }
  }
  EXPECT_GT(owner.size(), model_names().size() + 30) << "aliases.json names models that are there";
}

}  // namespace
}  // namespace shardplan
