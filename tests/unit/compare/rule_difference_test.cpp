#include <gmock/gmock.h>

#include <planner/compare/rule_difference.hpp>

namespace shardplan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

LinedRules rules(std::string name, std::vector<Rule> list) {
  LinedRules lined;
  lined.set.name = std::move(name);
  lined.set.mesh_axes = {"data", "fsdp", "expert"};
  lined.set.data_sharding = {"data"};
  lined.set.rules = std::move(list);
  for (std::size_t i = 0; i < lined.set.rules.size(); ++i) lined.lines.push_back(static_cast<int>(i) + 10);
  return lined;
}

const Rule batch{"batch", {"data", "expert"}}, embed{"embed", {"fsdp"}}, embed_again{"embed", {"data"}}, heads{"heads", {}};

TEST(RuleDifference, EqualSetsDifferInNothing) {
  EXPECT_THAT(rule_difference(rules("a", {batch, embed}), rules("b", {batch, embed})).changes, IsEmpty());
}

TEST(RuleDifference, SaysAxisAndLinesOfBothSides) {
  const auto difference = rule_difference(rules("a", {batch, embed, embed_again}), rules("b", {batch, heads, embed}));
  ASSERT_EQ(difference.changes.size(), 2U);
  const RuleChange& embeds = difference.changes[0];
  EXPECT_EQ(embeds.logical, "embed");
  ASSERT_EQ(embeds.first.size(), 2U);
  EXPECT_EQ(embeds.first[1].line, 12);
  ASSERT_EQ(embeds.second.size(), 1U);
  EXPECT_EQ(embeds.second[0].line, 12);
  EXPECT_EQ(difference.changes[1].logical, "heads");
  EXPECT_THAT(difference.changes[1].first, IsEmpty());
}

TEST(RuleDifference, AllChangesTogetherMakeTheSecondSet) {
  const LinedRules first = rules("a", {batch, embed, embed_again}), second = rules("b", {heads, embed, {"batch", {"data"}}});
  RuleSet set = first.set;
  for (const auto& change : rule_difference(first, second).changes) set = with_change(set, change, second.set);
  EXPECT_EQ(set.rules, second.set.rules);
}

TEST(RuleDifference, OrderIsPrioritySoItCounts) {
  const auto difference = rule_difference(rules("a", {batch, embed}), rules("b", {embed, batch}));
  ASSERT_EQ(difference.changes.size(), 1U);
  EXPECT_EQ(difference.changes[0].part, RulePart::order);
}

TEST(RuleDifference, AChangeKeepsThePlaceOfTheRule) {
  const LinedRules first = rules("a", {batch, embed, heads}), second = rules("b", {batch, {"embed", {"expert"}}, heads});
  const auto difference = rule_difference(first, second);
  ASSERT_EQ(difference.changes.size(), 1U);
  EXPECT_EQ(with_change(first.set, difference.changes[0], second.set).rules, second.set.rules);
}

TEST(RuleDifference, MeshAxesAndDataSharding) {
  const LinedRules first = rules("a", {batch});
  LinedRules second = first;
  second.set.mesh_axes = {"data", "expert"};
  second.set.data_sharding = {"data", "expert"};
  const auto difference = rule_difference(first, second);
  ASSERT_EQ(difference.changes.size(), 2U);
  EXPECT_EQ(difference.changes[0].part, RulePart::mesh_axes);
  EXPECT_EQ(difference.changes[1].part, RulePart::data_sharding);
  EXPECT_THAT(with_change(first.set, difference.changes[1], second.set).data_sharding, ElementsAre("data", "expert"));
}

}  // namespace
}  // namespace shardplan
