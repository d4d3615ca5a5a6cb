// Which layers of a model have experts (SHARDING.md section 5).
#include <gtest/gtest.h>

#include <shardplan/model.hpp>

namespace shardplan {
namespace {

struct Row {
  const char* what;
  std::int64_t layers, experts, first_dense;
  int interleave;
  std::int64_t moe, dense;
};

TEST(Model, CountsItsMixtureLayers) {
  for (const auto& row : {Row{"llama: one expert is none", 32, 1, 0, 1, 0, 32},
                          {"mixtral: all", 32, 8, 0, 1, 32, 0},
                          {"deepseek3: all but the first three", 61, 256, 3, 1, 58, 3},
                          {"llama4: every second", 48, 128, 0, 2, 24, 24}}) {
    Model model;
    model.layers = row.layers;
    model.num_experts = row.experts;
    model.first_dense_layers = row.first_dense;
    model.interleave_moe_step = row.interleave;
    EXPECT_EQ(model.moe_layers(), row.moe) << row.what;
    EXPECT_EQ(model.dense_layers(), row.dense) << row.what;
    EXPECT_EQ(model.has_experts(), row.experts > 1) << row.what;
  }
}

// Three chunked layers and one that sees all, experts in every second: four layers, then all repeats.
TEST(Model, RepeatsWithBothPeriods) {
  Model model;
  EXPECT_EQ(model.layer_period(), 1);
  model.attention_pattern.locals_per_period = 3;
  EXPECT_EQ(model.layer_period(), 4);
  model.interleave_moe_step = 2;
  EXPECT_EQ(model.layer_period(), 4);
  model.interleave_moe_step = 3;
  EXPECT_EQ(model.layer_period(), 12);
}

TEST(Model, SplitsTheKeyHeadsThatAllLayersHave) {
  Model model;
  model.kv_heads = 8;
  EXPECT_EQ(model.common_kv_heads(), 8);
  model.global_kv_heads = 2;
  EXPECT_EQ(model.common_kv_heads(), 2);
}

}  // namespace
}  // namespace shardplan
