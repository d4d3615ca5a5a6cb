#include <gmock/gmock.h>

#include <planner/sweep/answers.hpp>
#include <tests/unit/sweep/rows.hpp>

namespace shardplan {
namespace {

using testing::Eq;
using testing::Optional;

/// 1e6 tokens: 4 chips in 4,000 s, 8 in 2,000, 16 in 1,500; a dollar a chip-hour, the last one two.
SweepAnswer three_sizes() {
  SweepAnswer answer = answer_of({with_budget(possible("a", "x", 4, plan_taking(4)), 1),
                                  with_budget(possible("a", "x", 8, plan_taking(2)), 1),
                                  with_budget(possible("a", "y", 16, plan_taking(1.5)), 2), impossible("a", "y", 2)});
  answer.goal.tokens = 1'000'000;
  return answer;
}

TEST(SweepAnswers, SmallestCheapestFastest) {
  const SweepChoice choice = choose(three_sizes());
  EXPECT_THAT(choice.smallest, Optional(0));
  EXPECT_THAT(choice.cheapest, Optional(0)) << "as cheap as 8 chips, and earlier";
  EXPECT_THAT(choice.fastest, Optional(2));
  EXPECT_EQ(choice.in_time, 3);
}

TEST(SweepAnswers, OnlyWhatIsDoneInTime) {
  SweepAnswer answer = three_sizes();
  answer.goal.within = Seconds{2000};
  EXPECT_THAT(choose(answer).smallest, Optional(1));
  answer.goal.within = Seconds{100};
  EXPECT_EQ(choose(answer).in_time, 0);
  EXPECT_EQ(choose(answer).fastest, std::nullopt);
  EXPECT_NE(choose_at_any_time(answer).fastest, std::nullopt);
}

TEST(SweepAnswers, CheapestComparesWhatHasAPrice) {
  SweepAnswer answer = three_sizes();
  answer.rows[0].budget->dollars.reset();
  EXPECT_THAT(choose(answer).cheapest, Optional(1));
  EXPECT_EQ(choose(answer).without_price, 1);
}

TEST(SweepAnswers, WhatMayNotFitOnlyWhereNothingElseDoes) {
  SweepAnswer answer = three_sizes();
  answer.rows[0].plan->fit = Fit::marginal;
  EXPECT_THAT(choose(answer).smallest, Optional(1));
  for (auto& row : answer.rows)
    if (row.plan) row.plan->fit = Fit::marginal;
  EXPECT_THAT(choose(answer).smallest, Optional(0));
}

TEST(SweepAnswers, OfOneModel) {
  SweepAnswer answer = three_sizes();
  answer.rows[0].cell.model = "b";
  EXPECT_THAT(choose(answer, "a").smallest, Optional(1));
  EXPECT_THAT(choose(answer, "b").fastest, Optional(0));
  EXPECT_THAT(models_of(answer), testing::ElementsAre("b", "a"));
}

}  // namespace
}  // namespace shardplan
