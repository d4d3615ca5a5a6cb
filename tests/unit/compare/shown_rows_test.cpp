#include <gmock/gmock.h>

#include <planner/report/compare/compare_table.hpp>
#include <tests/unit/report/examples.hpp>

namespace shardplan {
namespace {

ComparedRow row(std::string rules) {
  ComparedRow one;
  one.evaluation = examples::fitting();
  one.evaluation.rules = std::move(rules);
  return one;
}

TEST(ShownRows, TheSameRunUnderOtherRulesIsOneRow) {
  CompareAnswer answer;
  answer.rows = {row("default"), row("cp-as-ep"), row("ep-as-cp")};
  answer.rows[1].evaluation.time.bubble = {1};
  const ShownRows shown = shown_rows(answer, 10);
  ASSERT_EQ(shown.answer.rows.size(), 2U);
  EXPECT_EQ(shown.answer.rows[0].evaluation.rules, "default,ep-as-cp");
  EXPECT_EQ(shown.left, 0U);
}

TEST(ShownRows, SaysHowManyItLeavesOut) {
  CompareAnswer answer;
  answer.rows = {row("a"), row("b"), row("c")};
  for (std::size_t i = 0; i < 3; ++i) answer.rows[i].evaluation.time.bubble = {static_cast<double>(i)};
  EXPECT_EQ(shown_rows(answer, 2).answer.rows.size(), 2U);
  EXPECT_EQ(shown_rows(answer, 2).left, 1U);
}

TEST(ShownRows, TwoFilesStayTwoRows) {
  CompareAnswer answer;
  answer.rows = {row("a"), row("a")};
  answer.changed.emplace();
  EXPECT_EQ(shown_rows(answer, 10).answer.rows.size(), 2U);
}

}  // namespace
}  // namespace shardplan
