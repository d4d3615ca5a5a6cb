#include <gmock/gmock.h>

#include <planner/sweep/scaling.hpp>
#include <tests/unit/sweep/rows.hpp>

namespace shardplan {
namespace {

// 1000 tokens a step: 4 chips take 4 s; 8 chips 2 s of compute and 0.2 s of communication (91%); 16 chips 1 s, 0.3 s and a
// bubble of 0.2 s (67%): of 16 chip-seconds, 4.8 more are communication, 3.2 the bubble.
TEST(SweepScaling, StopsWhereChipsFallBehindAndSaysWhatGrew) {
  const auto scaling = scaling_of(answer_of(
      {impossible("a", "x", 2), possible("a", "x", 4, plan_taking(4)), possible("a", "x", 8, plan_taking(2, 0.2)),
       possible("a", "x", 16, plan_taking(1, 0.3, 0.2)), possible("a", "x", 32, plan_taking(1))}));
  ASSERT_EQ(scaling.size(), 1);
  EXPECT_EQ(scaling[0].smallest, 1);
  EXPECT_EQ(scaling[0].largest.row, 2);
  EXPECT_NEAR(scaling[0].largest.efficiency, 4.0 / 4.4, 1e-12);
  ASSERT_TRUE(scaling[0].stops);
  EXPECT_EQ(scaling[0].stops->row, 3);
  EXPECT_NEAR(scaling[0].stops->efficiency, 4.0 / 6, 1e-12);
  EXPECT_EQ(scaling[0].grown, Limit::exposed_communication);
  EXPECT_NEAR(scaling[0].growth, 4.8 / 16, 1e-12);
}

// 12 chips that no mesh suits take as long as 8 do; 16 are faster again.
TEST(SweepScaling, PassesOverASizeBetweenThatFallsBehind) {
  const auto scaling =
      scaling_of(answer_of({possible("a", "x", 8, plan_taking(4)), possible("a", "x", 12, plan_taking(4)),
                            possible("a", "x", 16, plan_taking(2)), possible("a", "x", 24, plan_taking(2))}));
  ASSERT_EQ(scaling.size(), 1);
  EXPECT_EQ(scaling[0].largest.row, 2);
  ASSERT_TRUE(scaling[0].stops);
  EXPECT_EQ(scaling[0].stops->row, 3);
}

TEST(SweepScaling, OfEachModelAndMachineWithTwoSizes) {
  const auto scaling = scaling_of(answer_of({possible("a", "x", 4, plan_taking(4)), possible("a", "x", 8, plan_taking(2)),
                                             possible("a", "y", 4, plan_taking(1)), possible("b", "y", 4, plan_taking(4)),
                                             possible("b", "y", 8, plan_taking(4))}));
  ASSERT_EQ(scaling.size(), 2);
  EXPECT_EQ(scaling[0].smallest, 0);
  EXPECT_FALSE(scaling[0].stops);
  EXPECT_EQ(scaling[0].largest.row, 1);
  EXPECT_EQ(scaling[1].smallest, 3);
  EXPECT_EQ(scaling[1].grown, Limit::compute);
}

}  // namespace
}  // namespace shardplan
