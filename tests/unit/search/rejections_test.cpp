// What is said to be in the way.
#include <gtest/gtest.h>

#include <planner/search/space/rejections.hpp>

namespace shardplan {
namespace {

TEST(Rejections, NameTheLeastThatWasMissing) {
  Rejections rejections;
  rejections.add({ConstraintId::hbm, "needs 50", 50, 30});
  rejections.add({ConstraintId::hbm, "needs 40", 40, 30});
  Rejections others;
  others.add({ConstraintId::hbm, "needs 60", 60, 30});
  rejections.add(others);
  ASSERT_EQ(rejections.sorted().size(), 1u);
  EXPECT_EQ(rejections.sorted().front().example, "needs 40");
  EXPECT_EQ(rejections.sorted().front().candidates, 3);
}

TEST(Rejections, NameTheFewestTokensThatWereTooMany) {
  Rejections rejections;
  for (const std::int64_t tokens : {8, 2, 4})
    rejections.add({ConstraintId::batch_tokens, std::to_string(tokens), tokens, 1});
  EXPECT_EQ(rejections.sorted().front().example, "2");
  EXPECT_TRUE(rejections.has(ConstraintId::batch_tokens));
  EXPECT_FALSE(rejections.has(ConstraintId::hbm));
}

TEST(Rejections, NearestIsWhatOnlyLackedTimeThenMemory) {
  Rejections rejections;
  for (int i = 0; i < 3; ++i) rejections.add({ConstraintId::batch_tokens, "many", 2, 1});
  for (int i = 0; i < 2; ++i) rejections.add({ConstraintId::hbm, "large", 2, 1});
  rejections.add({ConstraintId::step_seconds, "slow", 2, 1});
  EXPECT_EQ(rejections.sorted().front().constraint, ConstraintId::batch_tokens);
  EXPECT_EQ(rejections.nearest_first(true)[0].constraint, ConstraintId::step_seconds);
  EXPECT_EQ(rejections.nearest_first(true)[1].constraint, ConstraintId::hbm);
}

// 203 rings with a buffer that they can't have, beside 1,291 meshes that the torus doesn't have.
TEST(Rejections, WhatNoMeshMendsIsNearerThanMeshes) {
  Rejections rejections;
  for (int i = 0; i < 9; ++i) rejections.add({ConstraintId::mesh_does_not_fit_torus, "no whole dims", 2, 1});
  rejections.add({ConstraintId::ragged_buffer, "needs use_ragged_sort", 1, 0});
  EXPECT_EQ(rejections.nearest_first(true).front().constraint, ConstraintId::ragged_buffer);
  EXPECT_EQ(rejections.nearest_first(false).front().constraint, ConstraintId::mesh_does_not_fit_torus) << "other paths go";
  rejections.add({ConstraintId::muon_decoder, "not mixtral", 1, 0});
  EXPECT_EQ(rejections.nearest_first(false).front().constraint, ConstraintId::muon_decoder) << "on every path";
}

TEST(Rejections, PipelinesThatAModelCantHaveComeLast) {
  Rejections rejections;
  rejections.add({ConstraintId::ring_needs_expert_parallelism, "every device has all experts", 1, 0});
  rejections.add({ConstraintId::pipeline_layers_differ, "stages repeat one layer", 1, 0});
  EXPECT_EQ(rejections.nearest_first(true).front().constraint, ConstraintId::ring_needs_expert_parallelism);
}

}  // namespace
}  // namespace shardplan
