// The checkpoint names that each remat policy saves (MaxText's policy table, SHARDING.md section 4).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <shardplan/error.hpp>
#include <shardplan/train_config.hpp>
#include <sstream>

namespace shardplan {
namespace {

using testing::HasSubstr;

/// "out_proj query_proj": in alphabetical order.
std::string saved(const std::string& policy, SavePlace place) {
  std::string names;
  for (const auto& [name, where] : saved_by_policy(policy))
    if (where == place) names += (names.empty() ? "" : " ") + name;
  return names;
}

struct Row {
  const char *policy, *on_device, *on_host;
};

TEST(SavedByPolicy, IsMaxTextsTable) {
  for (const auto& [policy, on_device, on_host] : {
           Row{"full", "", ""},
           {"save_out_proj", "out_proj", ""},
           {"save_qkv_proj", "key_proj qkv_proj query_proj value_proj", ""},
           {"save_dot_except_mlp", "key_proj out_proj qkv_proj query_proj value_proj", ""},
           {"save_dot_with_context_except_mlp", "context key_proj out_proj qkv_proj query_proj value_proj", ""},
           {"save_dot_except_mlpwi", "key_proj mlpwo out_proj qkv_proj query_proj value_proj", ""},
           {"minimal", "key_proj mlpwi mlpwi_0 mlpwi_1 mlpwo out_proj qkv_proj query_proj value_proj", ""},
           {"minimal_with_context",
            "context key_proj mlpwi mlpwi_0 mlpwi_1 mlpwo out_proj qkv_proj query_proj value_proj", ""},
           {"qkv_proj_offloaded", "", "key_proj query_proj value_proj"},
           {"minimal_offloaded", "", "key_proj mlpwi mlpwi_0 mlpwi_1 mlpwo out_proj qkv_proj query_proj value_proj"},
       }) {
    EXPECT_EQ(saved(policy, SavePlace::device), on_device) << policy;
    EXPECT_EQ(saved(policy, SavePlace::host), on_host) << policy;
  }
}

TEST(SavedByPolicy, KnowsEveryPolicyItLists) {
  for (const auto& policy : remat_policies()) EXPECT_NO_THROW(saved_by_policy(policy)) << policy;
  EXPECT_EQ(remat_policies().front(), "full");
}

TEST(SavedByPolicy, SomeHaveSeveralNames) {
  EXPECT_EQ(saved_by_policy("minimal_flash"), saved_by_policy("minimal_with_context"));
  EXPECT_EQ(saved_by_policy("none"), saved_by_policy("full"));
  EXPECT_EQ(saved_by_policy("minimal_with_quantization"), saved_by_policy("minimal"));
  EXPECT_EQ(saved_by_policy("minimal_with_context_and_quantization"), saved_by_policy("minimal_with_context"));
}

// In a device's memory each of these holds at least what the one before holds.
TEST(SavedByPolicy, GrowsFromFullToMinimalWithContext) {
  const std::vector<std::string> growing = {
      "full", "save_qkv_proj", "save_dot_except_mlp", "save_dot_except_mlpwi", "minimal", "minimal_with_context"};
  for (std::size_t i = 1; i < growing.size(); ++i) {
    const auto less = saved_by_policy(growing[i - 1]), more = saved_by_policy(growing[i]);
    EXPECT_TRUE(std::includes(more.begin(), more.end(), less.begin(), less.end())) << growing[i];
  }
}

// By what it is, not by what it is called.
TEST(RunsInPipelines, WhatPlacesActivationsItself) {
  const std::map<std::string, SavePlace> offloaded = {{"out_proj", SavePlace::host}};
  EXPECT_TRUE(runs_in_pipelines(offloaded_layer_inputs()));
  EXPECT_TRUE(runs_in_pipelines({"mine", offloaded, true}));
  EXPECT_FALSE(runs_in_pipelines({"custom", offloaded, false}));
  EXPECT_TRUE(runs_in_pipelines({"full", {}, false}));
}

TEST(SavedByPolicy, RefusesOthersByName) {
  try {
    saved_by_policy("minimall");
    ADD_FAILURE() << "was known";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("remat_policy: unknown policy 'minimall'; nearest: minimal"));
  }
  EXPECT_THROW(saved_by_policy("custom"), InputError);
  EXPECT_THROW(saved_by_policy(""), InputError);
}

}  // namespace
}  // namespace shardplan
