// The rules in force: merges, overrides, custom sets and pipelining, against what MaxText itself reported.
#include <gmock/gmock.h>

#include <formats/strict_json.hpp>
#include <rules/load_rules.hpp>
#include <rules/merge_rules.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

using testing::ElementsAre;

const RuleSet base{.name = "base",
                   .mesh_axes = {"data", "stage", "fsdp"},
                   .rules = {{"embed", {"data", "fsdp"}}, {"norm", {"data"}}, {"embed", {"fsdp"}}, {"kv", {}}},
                   .data_sharding = {"data", "stage", "fsdp"}};

ModelRules change(std::vector<Rule> rules) {
  ModelRules changes;
  changes.rules = std::move(rules);
  return changes;
}

ModelRules replacement(std::vector<Rule> rules) {
  ModelRules changes = change(std::move(rules));
  changes.override_rules = true;
  return changes;
}

TEST(MergeRules, DropsEveryRuleOfAGivenNameAndAppends) {
  EXPECT_THAT(merge_rules(base, change({{"embed", {"stage"}}, {"new", {}}})).rules,
              ElementsAre(Rule{"norm", {"data"}}, Rule{"kv", {}}, Rule{"embed", {"stage"}}, Rule{"new", {}}));
}

TEST(MergeRules, KeepsBothOfANewName) {
  EXPECT_THAT(
      merge_rules(base, change({{"norm", {"fsdp"}}, {"norm", {"stage"}}})).rules,
      ElementsAre(base.rules[0], base.rules[2], base.rules[3], Rule{"norm", {"fsdp"}}, Rule{"norm", {"stage"}}));
}

TEST(MergeRules, ReplacesTheListOnOverride) {
  EXPECT_THAT(merge_rules(base, replacement({{"kv", {"fsdp"}}})).rules, ElementsAre(Rule{"kv", {"fsdp"}}));
  EXPECT_THAT(merge_rules(base, replacement({})).rules, testing::IsEmpty()) << "as MaxText's _apply_rules does";
}

TEST(MergeRules, KeepsEverythingWithoutChanges) { EXPECT_EQ(merge_rules(base, ModelRules{}).rules, base.rules); }

TEST(MergeRules, ReplacesMeshAxesAndDataShardingOnlyWhereGiven) {
  const RuleSet same = merge_rules(base, change({{"kv", {"fsdp"}}}));
  EXPECT_EQ(same.mesh_axes, base.mesh_axes);
  EXPECT_EQ(same.data_sharding, base.data_sharding);
  const RuleSet other = merge_rules(base, {.mesh_axes = {"fsdp"}, .rules = {}, .data_sharding = {"fsdp"}});
  EXPECT_THAT(other.mesh_axes, ElementsAre("fsdp"));
  EXPECT_THAT(other.data_sharding, ElementsAre("fsdp"));
  EXPECT_EQ(other.rules, base.rules);
}

TEST(ActiveRules, ApplyTheModelThenTheUser) {
  const auto rules =
      active_rules(base, change({{"norm", {"fsdp"}}, {"kv", {"fsdp"}}}), change({{"norm", {"stage"}}})).rules;
  EXPECT_THAT(rules, ElementsAre(base.rules[0], base.rules[2], Rule{"kv", {"fsdp"}}, Rule{"norm", {"stage"}}));
}

TEST(ActiveRules, LoseModelAndUserRulesUnderACustomSet) {
  RuleSet custom = base;
  custom.custom = true;
  const RuleSet active = active_rules(custom, change({{"norm", {"fsdp"}}}), replacement({{"kv", {"stage"}}}));
  EXPECT_EQ(active.rules, base.rules);
  EXPECT_EQ(active.mesh_axes, base.mesh_axes);
}

TEST(Pipelined, PutsStageFirst) {
  const RuleSet set = pipelined({.name = "x",
                                 .mesh_axes = {"diloco", "data", "stage", "fsdp"},
                                 .rules = {{"activation_embed_and_logits_batch", {"data"}},
                                           {"activation_embed_and_logits_batch", {"fsdp"}},
                                           {"activation_batch", {"data", "stage"}}},
                                 .data_sharding = {"data", "fsdp", "stage", "expert"}});
  EXPECT_THAT(set.mesh_axes, ElementsAre("diloco", "stage", "data", "fsdp"));
  EXPECT_THAT(set.data_sharding, ElementsAre("stage", "data", "fsdp", "expert"));
  EXPECT_THAT(
      set.rules,
      ElementsAre(Rule{"activation_embed_and_logits_batch", {"stage", "data", "fsdp", "fsdp_transpose", "expert"}},
                  Rule{"activation_embed_and_logits_batch", {"fsdp"}}, Rule{"activation_batch", {"data", "stage"}}));
}

/// MaxText swaps the two axes where they are; it doesn't move stage next to data.
TEST(Pipelined, SwapsAxesThatAreNotNeighbours) {
  EXPECT_THAT(
      pipelined({.name = "x", .mesh_axes = {"data", "fsdp", "stage"}, .rules = {}, .data_sharding = {}}).mesh_axes,
      ElementsAre("stage", "fsdp", "data"));
}

TEST(Pipelined, LeavesAMeshWithStageFirstOrWithoutStage) {
  for (const std::vector<std::string>& axes : {std::vector<std::string>{"stage", "data"}, {"fsdp"}})
    EXPECT_EQ(pipelined({.name = "x", .mesh_axes = axes, .rules = {}, .data_sharding = {}}).mesh_axes, axes);
}

TEST(Pipelined, NeedsDataBesideStage) {
  EXPECT_THAT(
      [] {
        pipelined({.name = "x", .mesh_axes = {"stage", "fsdp"}, .rules = {}, .data_sharding = {}});
      },
      testing::ThrowsMessage<InputError>("rule set 'x': pipelining needs the mesh axis 'data' beside 'stage'"));
}

TEST(RulesOutsidePipeline, LetStagesActAsDataParallelism) {
  struct Row {
    std::vector<std::string> inside, outside;
  };
  const std::vector<Row> rows = {
      {{"data", "fsdp", "expert"}, {"stage", "data", "fsdp", "expert"}},
      {{"fsdp", "data"}, {"fsdp", "stage", "data"}},
      {{"data", "stage", "fsdp"}, {"stage", "data", "fsdp"}},
      {{"stage"}, {}},
      {{"fsdp"}, {"fsdp"}},
      {{}, {}},
  };
  for (const auto& row : rows)
    EXPECT_EQ(rules_outside_pipeline({.name = "x", .mesh_axes = {}, .rules = {{"a", row.inside}}, .data_sharding = {}})
                  .rules.front()
                  .axes,
              row.outside);
}

// tests/data/rules/active_rules.json: what MaxText's ahead-of-time compile reported for each recorded program.
std::vector<Rule> rules_in(const nlohmann::json& list) {
  std::vector<Rule> rules;
  for (const auto& pair : list) rules.push_back({pair[0], pair[1]});
  return rules;
}

TEST(ActiveRules, AreThoseThatMaxTextReported) {
  const std::string path = TEST_DATA "/rules/active_rules.json";
  const auto recorded = parse_json(read_file(path), path);
  EXPECT_EQ(recorded["records"].size(), 34U);
  for (const auto& record : recorded["records"]) {
    const RuleSet plain = active_rules(load_rules(record["rules"]), change(rules_in(record["model_rules"])));
    const RuleSet active = record["pipelined"].get<bool>() ? pipelined(plain) : plain;
    EXPECT_EQ(active.mesh_axes, record["mesh_axes"].get<std::vector<std::string>>()) << record["record"];
    EXPECT_TRUE(active.rules == rules_in(recorded["lists"][record["active"].get<std::string>()])) << record["record"];
  }
}

}  // namespace
}  // namespace shardplan
