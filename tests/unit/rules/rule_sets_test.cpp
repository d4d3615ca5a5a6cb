// The built-in rule sets: they load, and say what MaxText's own files say where it matters.
#include <gmock/gmock.h>

#include <rules/load_rules.hpp>
#include <rules/unreachable_rules.hpp>
#include <set>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

using testing::ElementsAre;

TEST(RuleSets, AreNamedDefaultFirst) {
  EXPECT_THAT(rule_set_names(), ElementsAre("default", "cp-as-ep", "ep-as-cp", "ep-as-dp", "ep-tp",
                                            "pipeline-large-moe", "pure-fsdp", "shard-exp-on-fsdp"));
}

struct SetRow {
  const char* name;
  std::vector<std::string> mesh_axes;
  std::size_t rules;
  bool custom;
};

const std::vector<SetRow> sets = {
    {"default",
     {"diloco", "data", "stage", "fsdp", "fsdp_transpose", "context", "context_usp_ulysses", "context_autoregressive",
      "tensor", "tensor_sequence", "expert", "autoregressive"},
     76,
     false},
    {"cp-as-ep", {"data", "stage", "fsdp", "context", "expert"}, 37, true},
    {"ep-as-cp", {"data", "stage", "fsdp", "expert"}, 37, true},
    {"ep-as-dp", {"data", "fsdp", "fsdp_transpose", "expert"}, 38, true},
    {"ep-tp", {"data", "fsdp", "expert"}, 42, true},
    {"pipeline-large-moe", {"data", "stage", "fsdp", "context", "tensor", "expert"}, 42, true},
    {"pure-fsdp", {"fsdp"}, 14, true},
    {"shard-exp-on-fsdp", {"data", "stage", "fsdp", "fsdp_transpose", "context", "expert"}, 30, true},
};

TEST(RuleSets, HaveMaxTextsMeshAxesAndLength) {
  for (const auto& row : sets) {
    const RuleSet set = load_rules(row.name);
    EXPECT_EQ(set.name, row.name);
    EXPECT_EQ(set.mesh_axes, row.mesh_axes) << row.name;
    EXPECT_EQ(set.rules.size(), row.rules) << row.name;
    EXPECT_EQ(set.custom, row.custom) << row.name;
  }
}

TEST(RuleSets, LayTheBatchOverEveryAxisButDiloco) {
  for (const auto& row : sets) {
    auto axes = row.mesh_axes;
    std::erase(axes, "diloco");
    EXPECT_EQ(load_rules(row.name).data_sharding, axes) << row.name;
  }
}

TEST(RuleSets, SayWhatTheyAreForAndWhereTheyComeFrom) {
  for (const auto& name : rule_set_names()) {
    EXPECT_THAT(rules_yaml(name), testing::StartsWith("# ")) << name;
    EXPECT_THAT(rules_yaml(name), testing::ContainsRegex("(Source|Reconstructed)")) << name;
  }
}

/// The only axes outside their own mesh are ep-as-dp's, as in MaxText's file.
TEST(RuleSets, NameOnlyAxesOfTheirMesh) {
  for (const auto& name : rule_set_names()) {
    const RuleSet set = load_rules(name);
    std::set<std::string> absent;
    for (const auto& rule : set.rules) absent.insert(rule.axes.begin(), rule.axes.end());
    for (const auto& axis : set.mesh_axes) absent.erase(axis);
    if (name == "ep-as-dp")
      EXPECT_THAT(absent, ElementsAre("context", "tensor", "tensor_transpose"));
    else
      EXPECT_THAT(absent, testing::IsEmpty()) << name;
  }
}

TEST(RuleSets, HaveNoUnreachableRule) {
  for (const auto& name : rule_set_names()) EXPECT_TRUE(unreachable_rules(load_rules(name)).empty()) << name;
}

TEST(RuleSets, ReportAnUnknownNameWithTheNearest) {
  for (const auto& read : {+[] { load_rules("cp-as-eq"); }, +[] { rules_yaml("cp-as-eq"); }})
    EXPECT_THAT(read, testing::ThrowsMessage<InputError>(
                          testing::StartsWith("unknown rule set 'cp-as-eq'; nearest: cp-as-ep")));
}

}  // namespace
}  // namespace shardplan
