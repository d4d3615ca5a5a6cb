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

TEST(Rejections, NearestIsWhatOnlyLackedTimeThenMemory) {
  Rejections rejections;
  for (int i = 0; i < 3; ++i) rejections.add({ConstraintId::batch_tokens, "many", 2, 1});
  for (int i = 0; i < 2; ++i) rejections.add({ConstraintId::hbm, "large", 2, 1});
  rejections.add({ConstraintId::step_seconds, "slow", 2, 1});
  EXPECT_EQ(rejections.sorted().front().constraint, ConstraintId::batch_tokens);
  EXPECT_EQ(rejections.nearest_first()[0].constraint, ConstraintId::step_seconds);
  EXPECT_EQ(rejections.nearest_first()[1].constraint, ConstraintId::hbm);
}

}  // namespace
}  // namespace shardplan
