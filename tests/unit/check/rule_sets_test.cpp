// Rules alone, and where they stand.
#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <planner/check/check_request.hpp>
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

/// A run's own list stands in place of the default set's: it is what is checked, and where findings point.
TEST(RulePlaces, AreOfTheRunsOwnFileWhereThatHasRules) {
  const std::string path = own_folder() + "run.yml";
  std::ofstream(path) << "model_name: mixtral-8x7b\nici_expert_parallelism: 8\nici_fsdp_parallelism: 1\n"
                         "sparse_matmul: false\ncapacity_factor: 1.25\nlogical_axis_rules:\n"
                         "  - ['activation_batch', ['data', 'fsdp', 'expert']]\n  - ['embed', ['fsdp']]\n"
                         "  - ['norm', []]\n  - ['norm', ['fsdp']]\n  - ['mpl', ['fsdp']]\n";
  CheckWords words;
  words.config_file = path;
  const CheckAnswer answer = check(read_check(words));
  EXPECT_EQ(answer.rules, path);
  EXPECT_TRUE(answer.rules_are_file);
  std::map<FindingId, std::vector<int>> lines;
  std::map<FindingId, Finding> found;
  for (const CheckedFinding& checked : answer.findings) {
    found.emplace(checked.finding.id, checked.finding);
    for (const RulePlace& place : checked.rules) lines[checked.finding.id].push_back(place.line);
  }
  EXPECT_THAT(lines[FindingId::unexpected_all_gather], testing::ElementsAre(7));
  EXPECT_THAT(lines[FindingId::rule_unreachable], testing::ElementsAre(10, 9));
  EXPECT_THAT(lines[FindingId::rule_name_unknown], testing::ElementsAre(11));
  // Every device computes all experts: to split them is worth its exchanges.
  const Finding& experts = found[FindingId::missing_all_to_all];
  EXPECT_EQ(experts.severity, Severity::warning);
  EXPECT_THAT(experts.fix, testing::StartsWith("add ['exp', ['expert']] to the rules"));
  EXPECT_EQ(RulePlaces("pure-fsdp", path).name(), "pure-fsdp") << "beside a custom set a run's rules are idle";
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
