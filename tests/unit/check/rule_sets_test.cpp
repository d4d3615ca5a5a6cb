// Rules alone, and where they stand.
#include <gmock/gmock.h>

#include <fstream>
#include <planner/check/rule_places.hpp>
#include <planner/check/rule_set_findings.hpp>
#include <rules/load_rules.hpp>
#include <rules/rule_lines.hpp>
#include <tests/unit/check/checking.hpp>
#include <tests/unit/own_folder.hpp>

namespace shardplan {
namespace {

std::vector<Finding> findings_of_rules(const std::string& rules) {
  return rule_set_findings(
      parse_rules("mesh_axes: ['data', 'fsdp', 'expert']\nlogical_axis_rules: [" + rules + "]", "rules.yml"));
}

TEST(RuleSetFindings, Table) {
  struct Row {
    std::string rules;
    std::vector<std::string> ids;
    std::string fix;
  };
  for (const auto& [rules, ids, fix] : {
           Row{"['embed', ['fsdp', 'expert']], ['embed', ['fsdp']]", {}, ""},
           Row{"['embed', ['fsdp']], ['embed', ['fsdp', 'expert']]",
               {"rule-unreachable"},
               "put the longer list first, or leave the rule out"},
           Row{"['embed', []], ['embed', ['fsdp']]",
               {"rule-unreachable"},
               "put the longer list first, or leave the rule out"},
           Row{"['embed', ['fsdp']], ['embed', ['fsdp']]", {"rule-unreachable"}, "leave the repeated rule out"},
           Row{"['activaton_mlp', ['fsdp']]", {"rule-name-unknown"}, "name it 'activation_mlp', the nearest"},
           Row{"['norm', ['expret']]", {"rule-axis-unknown"}, "name it 'expert', the nearest"},
           Row{"['norm', ['tensor']]", {}, ""},  // a mesh axis of MaxText that this set doesn't have
       }) {
    const auto findings = findings_of_rules(rules);
    EXPECT_EQ(ids_of(findings), ids) << rules;
    EXPECT_EQ(findings.empty() ? "" : findings.front().fix, fix) << rules;
  }
}

TEST(RuleSetFindings, AreNoneInTheSetsThatMaxTextShips) {
  for (const auto& name : rule_set_names())
    EXPECT_THAT(ids_of(rule_set_findings(load_rules(name))), testing::IsEmpty()) << name;
}

TEST(RuleLines, AreThoseOfTheFile) {
  EXPECT_THAT(
      rule_lines(
          "mesh_axes: ['fsdp']\n# a comment\nlogical_axis_rules: [\n  ['embed', ['fsdp']],\n\n  ['norm', []],\n]\n",
          "x.yml"),
      testing::ElementsAre(4, 6));
  EXPECT_THAT(rule_lines("mesh_axes: ['fsdp']\n", "x.yml"), testing::IsEmpty());
  for (const auto& name : rule_set_names())
    EXPECT_EQ(rule_lines(rules_yaml(name), name).size(), load_rules(name).rules.size()) << name;
}

/// Equal rules are told apart by where they stand.
TEST(RulePlaces, OfARepeatedRuleAreItsOwn) {
  const std::string path = own_folder() + "repeated.yml";
  std::ofstream(path) << "mesh_axes: ['fsdp']\nlogical_axis_rules: [\n  ['embed', ['fsdp']],\n  ['norm', []],\n"
                         "  ['embed', ['fsdp']],\n  ['embed', ['fsdp']],\n]\n";
  const RulePlaces places(path);
  std::vector<int> lines;
  for (const Finding& finding : rule_set_findings(places.rules()))
    for (const RulePlace& place : places.places_of(finding)) lines.push_back(place.line);
  EXPECT_THAT(lines, testing::ElementsAre(5, 3, 6, 3));
}

TEST(RulePlaces, AreOfTheSameRuleOnly) {
  const RulePlaces places(TEST_DATA "/check/batch_takes_expert.yml");
  EXPECT_EQ(places.place_of({"activation_exp", {"expert"}}).line, 10);
  EXPECT_EQ(places.place_of({"activation_exp", {"fsdp"}}).line, 0);
  EXPECT_TRUE(places.is_file());
  EXPECT_FALSE(RulePlaces("default").is_file());
}

TEST(RulePlaces, SayThatTheTwoDimensionalSetIsMissing) {
  try {
    RulePlaces places("2d-fsdp");
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("2d-fsdp.yml"));
  }
}

}  // namespace
}  // namespace shardplan
