#include <gtest/gtest.h>

#include <rules/unreachable_rules.hpp>

namespace shardplan {
namespace {

struct UnreachableRow {
  const char* why;
  std::vector<Rule> rules;
  std::vector<std::pair<std::size_t, std::size_t>> hidden;  // rule, hidden by
};

TEST(UnreachableRules, AreThoseAfterAShorterListOfTheSameName) {
  const std::vector<UnreachableRow> rows = {
      {"a fallback without an axis of the first", {{"x", {"a", "b"}}, {"x", {"a"}}}, {}},
      {"longer after shorter", {{"x", {"a"}}, {"x", {"b", "a"}}}, {{1, 0}}},
      {"the same twice", {{"x", {"a"}}, {"y", {}}, {"x", {"a"}}}, {{2, 0}}},
      {"after an empty list", {{"x", {}}, {"x", {"a"}}}, {{1, 0}}},
      {"another name", {{"x", {"a"}}, {"y", {"a", "b"}}}, {}},
      {"only the earliest is named", {{"x", {"a"}}, {"x", {"a", "b"}}, {"x", {"a", "b", "c"}}}, {{1, 0}, {2, 0}}},
  };
  for (const auto& row : rows) {
    RuleSet set;
    set.rules = row.rules;
    std::vector<std::pair<std::size_t, std::size_t>> hidden;
    for (const auto& rule : unreachable_rules(set)) hidden.emplace_back(rule.rule, rule.hidden_by);
    EXPECT_EQ(hidden, row.hidden) << row.why;
  }
}

}  // namespace
}  // namespace shardplan
