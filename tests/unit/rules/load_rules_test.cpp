// The loader: what it accepts of MaxText's form, and the one line it gives for everything else.
#include <gmock/gmock.h>

#include <cstdio>
#include <fstream>
#include <rules/load_rules.hpp>
#include <shardplan/error.hpp>

#include "../own_folder.hpp"

namespace shardplan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string error_of(std::string_view yaml) {
  try {
    parse_rules(yaml, "my.yml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(LoadRules, ReadsEveryFormOfARule) {
  const RuleSet set = parse_rules(R"(
mesh_axes: ['data', fsdp]
data_sharding: [['fsdp']]
context_sharding: 'expert'
logical_axis_rules: [
  ['embed', ['fsdp', 'data']],
  ['embed', fsdp],
  ["kv", []],
  ['norm', null],
]
)",
                                  "my.yml");
  EXPECT_EQ(set.name, "my.yml");
  EXPECT_THAT(set.mesh_axes, ElementsAre("data", "fsdp"));
  EXPECT_THAT(set.data_sharding, ElementsAre("fsdp"));
  EXPECT_THAT(set.rules,
              ElementsAre(Rule{"embed", {"fsdp", "data"}}, Rule{"embed", {"fsdp"}}, Rule{"kv", {}}, Rule{"norm", {}}));
  EXPECT_TRUE(set.custom);
}

TEST(LoadRules, ReadsBlockStyleToo) {
  const RuleSet set = parse_rules("logical_axis_rules:\n- [embed, [fsdp]]\n- - layers\n  - stage\n", "my.yml");
  EXPECT_THAT(set.rules, ElementsAre(Rule{"embed", {"fsdp"}}, Rule{"layers", {"stage"}}));
}

TEST(LoadRules, TakesMissingMeshAxesFromTheDefaultSet) {
  const RuleSet set = parse_rules("logical_axis_rules: [['embed', ['fsdp']]]", "my.yml");
  EXPECT_EQ(set.mesh_axes, load_rules("default").mesh_axes);
  EXPECT_EQ(set.data_sharding, load_rules("default").data_sharding);
}

TEST(LoadRules, LaysTheBatchOverTheMeshWhenTheFileDoesNotSay) {
  const RuleSet set = parse_rules("mesh_axes: [diloco, data, expert]\nlogical_axis_rules: [[embed, data]]", "my.yml");
  EXPECT_THAT(set.data_sharding, ElementsAre("data", "expert"));
}

/// MaxText's base.yml has hundreds of other keys, some of them alike.
TEST(LoadRules, LeavesOtherSettingsToMaxText) {
  const RuleSet set = parse_rules(R"(
run_name: ""
override_logical_axis_rules: false
logical_axis_rules_for_eval: []
input_data_sharding_logical_axes: ['activation_embed_and_logits_batch', 'activation_norm_length']
custom_mesh_and_rule: ""
data_shuffle_seed: 0
shard_mode: "auto"
debug_sharding: false
data_shards: 3
context_parallel_strategy: "all_gather"
nested: {deeper: [1, {deepest: 2}]}
logical_axis_rules: [['embed', ['fsdp']]]
)",
                                  "base.yml");
  EXPECT_THAT(set.rules, ElementsAre(Rule{"embed", {"fsdp"}}));
  EXPECT_FALSE(set.custom) << "a base.yml is not a custom_mesh_and_rule file: model rules still merge into it";
}

TEST(LoadRules, AllowsAnAxisThatTheMeshDoesNotHave) {
  EXPECT_EQ(error_of("mesh_axes: [fsdp]\nlogical_axis_rules: [[embed, [fsdp, tensor]]]"), "no error");
}

struct ErrorRow {
  const char* yaml;
  const char* message;
};

void expect_errors(const std::vector<ErrorRow>& rows) {
  for (const auto& row : rows) EXPECT_EQ(error_of(row.yaml), row.message);
}

TEST(LoadRulesError, SaysFileLineAndTheFormExpected) {
  expect_errors(
      {{"", "my.yml: the file: expected a mapping with logical_axis_rules, found nothing"},
       {"[['embed', 'fsdp']]", "my.yml:1: the file: expected a mapping with logical_axis_rules, found a list of 1"},
       {"mesh_axes: [fsdp]", "my.yml: expected logical_axis_rules, a list of [name, axes] pairs"},
       {"logical_axis_rules: []", "my.yml: expected logical_axis_rules, a list of [name, axes] pairs"},
       {"rules: [['embed', 'fsdp']]\nlogical_axes: []",
        "my.yml: expected logical_axis_rules, a list of [name, axes] pairs; nearest key: logical_axes"},
       {"logical_axis_rules:\n- [embed, [fsdp]]\n- embed",
        "my.yml:3: logical_axis_rules[1]: expected [name, axis] or [name, [axes]], found 'embed'"},
       {"logical_axis_rules:\n- [embed, fsdp, expert]",
        "my.yml:2: logical_axis_rules[0]: expected [name, axis] or [name, [axes]], found a list of 3"},
       {"logical_axis_rules: {embed: fsdp}",
        "my.yml:1: logical_axis_rules: expected a list of [name, axis] and [name, [axes]] pairs, found a mapping"},
       {"logical_axis_rules:\n- [embed, {fsdp: 1}]",
        "my.yml:2: logical_axis_rules[0] (embed): expected a mesh axis or a list of mesh axes, found a mapping"},
       {"logical_axis_rules:\n- [embed, [[fsdp]]]",
        "my.yml:2: logical_axis_rules[0] (embed): expected a name, found a list of 1"},
       {"logical_axis_rules:\n- [8, fsdp]", "my.yml:2: logical_axis_rules[0]: expected a name, found '8'"},
       {"logical_axis_rules:\n- [embed, 'fsdp, expert']",
        "my.yml:2: logical_axis_rules[0] (embed): expected a name, found 'fsdp, expert'"},
       {"mesh_axes: fsdp\n", "my.yml:1: mesh_axes: expected a list of mesh axes, found 'fsdp'"},
       {"data_sharding: ['data', 'fsdp']\n",
        "my.yml:1: data_sharding: expected one list of mesh axes, [['data', 'fsdp']], found a list of 2"},
       {"context_sharding: tensor\n", "my.yml:1: context_sharding: expected 'context' or 'expert', found 'tensor'"},
       {"override_logical_axis_rules: maybe\n",
        "my.yml:1: override_logical_axis_rules: expected true or false, found 'maybe'"}});
}

TEST(LoadRulesError, NamesWhatIsRepeated) {
  expect_errors({{"logical_axis_rules:\n- [embed,\n   [fsdp,\n    fsdp]]",
                  "my.yml:4: logical_axis_rules[0] (embed): mesh axis 'fsdp' is given twice"},
                 {"mesh_axes: [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]",
                  "my.yml:1: mesh_axes: expected at most 15 mesh axes, found a list of 16"},
                 {"mesh_axes: [data, fsdp, data]", "my.yml:1: mesh_axes: mesh axis 'data' is given twice"},
                 {"mesh_axes: [data]\nlogical_axis_rules: [[embed, data]]\nmesh_axes: [fsdp]",
                  "my.yml:3: key 'mesh_axes' is given twice"},
                 {"a: {b: 1, c: 2, b: 3}", "my.yml:1: key 'b' is given twice"},
                 {"a: {b: [{c: 1}], 'b': 3}", "my.yml:1: key 'b' is given twice"},
                 {"logical_axis_rules: [[embed, fsdp]]\n---\nmesh_axes: [fsdp]",
                  "my.yml:2: expected one YAML document, found more text after it"}});
}

TEST(LoadRulesError, NamesTheKeyOrAxisThatWasMeant) {
  expect_errors({{"\nlogical_axis_rule: []", "my.yml:2: unknown key 'logical_axis_rule'; nearest: logical_axis_rules"},
                 {"logical-axis-rules: []", "my.yml:1: unknown key 'logical-axis-rules'; nearest: logical_axis_rules"},
                 {"mesh_axis: []", "my.yml:1: unknown key 'mesh_axis'; nearest: mesh_axes"},
                 {"data_shardings: []", "my.yml:1: unknown key 'data_shardings'; nearest: data_sharding"},
                 {"contex_sharding: context", "my.yml:1: unknown key 'contex_sharding'; nearest: context_sharding"},
                 {"mesh_axes: [fsdp]\ndata_sharding: [[data]]\nlogical_axis_rules: [[embed, fsdp]]",
                  "my.yml: data_sharding: unknown mesh axis 'data'; known: fsdp"}});
}

TEST(LoadRules, ReportsMalformedYamlWithItsLine) {
  EXPECT_THAT(error_of("mesh_axes: [fsdp]\nlogical_axis_rules: [[embed, [fsdp]"),
              testing::StartsWith("my.yml:2: malformed YAML: "));
  EXPECT_THAT(error_of("a: &x [b"), testing::StartsWith("my.yml:1: malformed YAML: "));
  EXPECT_THAT(error_of("a: *nobody"), testing::StartsWith("my.yml:1: malformed YAML: "));
}

TEST(LoadRules, SurvivesHostileNesting) {
  EXPECT_THAT(error_of(std::string(100000, '[')), testing::HasSubstr("malformed YAML"));
  EXPECT_THAT(error_of(std::string(100000, '{')), testing::HasSubstr("malformed YAML"));
  EXPECT_THAT(error_of("logical_axis_rules: &x [*x, *x]"),
              testing::StartsWith("my.yml:1: an alias stands for what it is in"));
}

TEST(LoadRules, ReadsAFile) {
  const std::string path = own_folder() + "shardplan_rules_test.yml";
  std::ofstream(path) << "mesh_axes: [fsdp]\nlogical_axis_rules: [[embed, fsdp]]\n";
  EXPECT_THAT(load_rules(path).rules, ElementsAre(Rule{"embed", {"fsdp"}}));
  std::ofstream(path) << "mesh_axes: [fsdp\n";
  EXPECT_THAT([&] { load_rules(path); }, testing::ThrowsMessage<InputError>(testing::StartsWith(path + ":")));
  std::remove(path.c_str());
  EXPECT_THAT([&] { load_rules(path); }, testing::ThrowsMessage<InputError>(testing::StartsWith(path + ": ")));
}

TEST(LoadRules, RefusesADirectory) { EXPECT_THROW(load_rules(testing::TempDir()), InputError); }

TEST(RuleChanges, AreEmptyWhereTheFileSaysNothing) {
  const ModelRules changes = parse_rule_changes("base_emb_dim: 4096", "model.yml");
  EXPECT_FALSE(changes.override_rules);
  EXPECT_THAT(changes.rules, IsEmpty());
  EXPECT_THAT(changes.mesh_axes, IsEmpty());
  EXPECT_THAT(changes.data_sharding, IsEmpty());
}

TEST(RuleChanges, ReadAnOverride) {
  const ModelRules changes = parse_rule_changes(
      "override_logical_axis_rules: True\nmesh_axes: [data, fsdp]\ndata_sharding: [[data, fsdp]]\n"
      "logical_axis_rules: [[norm, fsdp]]",
      "model.yml");
  EXPECT_TRUE(changes.override_rules);
  EXPECT_THAT(changes.rules, ElementsAre(Rule{"norm", {"fsdp"}}));
  EXPECT_THAT(changes.mesh_axes, ElementsAre("data", "fsdp"));
  EXPECT_THAT(changes.data_sharding, ElementsAre("data", "fsdp"));
}

/// Twelve lines that stand for 10^12 values.
TEST(ParseRules, RefusesAliasesThatStandForMoreThanAnyFileHas) {
  std::string yaml = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 12; ++i) {
    yaml += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) yaml += (k > 0 ? ",*a" : "*a") + std::to_string(i - 1);
    yaml += "]\n";
  }
  EXPECT_THAT(error_of(yaml), testing::HasSubstr("my.yml:5: aliases that stand for more than 100000 values"));
  EXPECT_EQ(error_of("mine: &mine [fsdp]\nlogical_axis_rules: [[embed, *mine], [mlp, *mine]]"), "no error");
}

/// Whoever follows them comes back to where they are: reading one ended in a signal.
TEST(ParseRules, RefusesAliasesOfWhatTheyAreIn) {
  const auto endless = testing::HasSubstr("my.yml:1: an alias stands for what it is in, without end");
  EXPECT_THAT(error_of("a: &a [*a]\nlogical_axis_rules: [[embed, fsdp]]"), endless);
  EXPECT_THAT(error_of("a: &a {b: [fsdp, *a]}\nlogical_axis_rules: [[embed, fsdp]]"), endless);
}

}  // namespace
}  // namespace shardplan
