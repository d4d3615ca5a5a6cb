// Logical axes → PartitionSpec, against vectors resolved by MaxText itself and against the published behaviour of its
// changes to the rules.
#include <gmock/gmock.h>

#include <formats/strict_json.hpp>
#include <map>
#include <rules/load_rules.hpp>
#include <rules/resolve.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

using testing::ElementsAre;

using Names = std::vector<std::vector<std::string>>;  // mesh axes of each dim, by name

Names names_of(const PartitionSpec& spec, const Mesh& mesh) {
  Names names;
  for (const auto& dim : spec.dims) {
    auto& axes = names.emplace_back();
    for (const AxisId axis : dim) axes.push_back(mesh.axes[axis].name);
  }
  return names;
}

std::string spec_of(const char* set, const char* sizes, const LogicalAxes& names) {
  const RuleSet rules = load_rules(set);
  const Mesh mesh = parse_mesh(sizes, rules.mesh_axes);
  return describe(resolve(names, rules, mesh), mesh);
}

struct Vector {
  std::string rules, tensor;
  std::map<std::string, int> mesh;
  std::vector<std::string> logical;
  Names spec;
};

std::vector<std::string> axes_in(const nlohmann::json& entry) {
  if (entry.is_null()) return {};
  if (entry.is_string()) return {entry.get<std::string>()};
  return entry.get<std::vector<std::string>>();
}

LogicalAxes views_of(const std::vector<std::string>& names) {
  LogicalAxes views;
  for (const auto& name : names) views.push_back(std::string_view(name));
  return views;
}

Vector vector_in(const nlohmann::json& value) {
  Vector vector{value["rules"], value["tensor"], value["mesh"], {}, {}};
  for (const auto& name : value["logical"]) vector.logical.push_back(name.is_null() ? "" : name.get<std::string>());
  for (const auto& dim : value["spec"]) vector.spec.push_back(axes_in(dim));
  return vector;
}

Mesh mesh_of(const RuleSet& rules, const std::map<std::string, int>& sizes) {
  Mesh mesh = parse_mesh("", rules.mesh_axes);
  for (const auto& [name, size] : sizes) mesh.axes.at(mesh.find(name).value()).ici = size;
  return mesh;
}

TEST(Resolve, AgreesWithMaxTextsOwnResolution) {
  const std::string path = TEST_DATA "/rules/resolve_vectors.json";
  const auto values = parse_json(read_file(path), path);
  EXPECT_EQ(values.size(), 306U);
  for (const auto& value : values) {
    const Vector vector = vector_in(value);
    const RuleSet rules = load_rules(vector.rules);
    const Mesh mesh = mesh_of(rules, vector.mesh);
    EXPECT_EQ(names_of(resolve(views_of(vector.logical), rules, mesh), mesh), vector.spec) << value.dump();
  }
}

const RuleSet toy{.name = "toy",
                  .mesh_axes = {"a", "b", "c"},
                  .rules = {{"first", {"a", "b"}},
                            {"second", {"b", "c"}},
                            {"second", {"c"}},
                            {"empty", {}},
                            {"empty", {"c"}},
                            {"absent", {"nowhere"}},
                            {"late", {"nowhere", "c"}}},
                  .data_sharding = {}};

struct ResolvedDims {
  const char* why;
  const char* mesh;
  LogicalAxes names;
  const char* spec;
};

TEST(Resolve, FollowsTheAlgorithm) {
  const std::vector<ResolvedDims> rows = {
      {"all axes of the rule, in its order", "a=2,b=2,c=2", {"first"}, "P(('a','b'))"},
      {"rule order decides, not dim order", "a=2,b=2,c=2", {"second", "first"}, "P('c', ('a','b'))"},
      {"one used axis skips the whole rule", "a=2,b=2,c=2", {"first", "second"}, "P(('a','b'), 'c')"},
      {"size 1 still blocks", "a=2,c=2", {"first", "second"}, "P('a', 'c')"},
      {"absent axes still block", "c=2", {"absent", "late"}, "P(None, None)"},
      {"absent axes count as size 1", "c=2", {"late"}, "P('c')"},
      {"an empty list settles the dim", "c=2", {"empty"}, "P(None)"},
      {"unnamed and unknown dims", "a=2", {"", "unknown", "first", ""}, "P(None, None, 'a', None)"},
      {"a scalar", "a=2", {}, "P()"}};
  for (const auto& row : rows) {
    const Mesh mesh = parse_mesh(row.mesh, toy.mesh_axes);
    EXPECT_EQ(describe(resolve(row.names, toy, mesh), mesh), row.spec) << row.why;
  }
}

TEST(Resolve, RefusesANameOnTwoDims) {
  EXPECT_THAT(
      [] {
        resolve({"first", "", "first"}, toy, parse_mesh("a=2", toy.mesh_axes));
      },
      testing::ThrowsMessage<InputError>("logical axis 'first' names two dims of one tensor"));
}

TEST(Resolver, RefusesRulesItCannotCompile) {
  RuleSet twice = toy;
  twice.rules.push_back({"bad", {"a", "a"}});
  EXPECT_THAT([&] { Resolver(twice, Mesh{}); },
              testing::ThrowsMessage<InputError>("rule 'bad': mesh axis 'a' is given twice"));
  RuleSet many = toy;
  for (int i = 0; i < 65; ++i) many.rules.push_back({"many", {"axis" + std::to_string(i)}});
  EXPECT_THAT([&] { Resolver(many, Mesh{}); },
              testing::ThrowsMessage<InputError>("the rules name more than 64 mesh axes"));
}

// Mixtral-8x7B on its dropping path, expert=8: MaxText PR #4179 (moe_dispatch_no_expert_sharding) and #4007 before it.
const LogicalAxes layer_input = {"activation_batch", "activation_norm_length", "activation_embed"};
const LogicalAxes mask = {"activation_batch_moe", "activation_norm_length_moe", "", ""};
const LogicalAxes dispatch = {"activation_exp", "activation_batch_moe", "", "activation_embed_moe"};
const LogicalAxes experts_hidden = {"activation_exp", "activation_batch_moe", "", "activation_mlp"};
const LogicalAxes wi = {"exp", "embed_moe", "mlp_moe"};
const LogicalAxes wo = {"exp", "mlp_moe", "embed_moe"};

/// The dispatch under the flag: every dim by itself, then the mesh axis `expert` peeled from the batch dim.
PartitionSpec peeled(const LogicalAxes& names, const Resolver& resolver, const Mesh& mesh) {
  return without_axes(resolver.resolve_each_dim(names), {mesh.find("expert").value()}, 1);
}

/// The default set as it was before #4007: activation_batch_moe without `expert`.
RuleSet before_4007() {
  RuleSet rules = load_rules("default");
  for (auto& rule : rules.rules)
    if (rule.logical == "activation_batch_moe") rule.axes = {"data", "fsdp", "fsdp_transpose"};
  return rules;
}

struct StolenRow {
  const char* tensor;
  LogicalAxes names;
  bool obeys_the_flag;
  const char *before_4007, *flag_off, *flag_on;
};

TEST(ExpertAxis, IsStolenByTheBatchUnlessTheFlagPeelsIt) {
  const std::vector<StolenRow> rows = {
      {"layer input", layer_input, false, "P('expert', None, None)", "P('expert', None, None)",
       "P('expert', None, None)"},
      {"mask", mask, false, "P(None, None, None, None)", "P('expert', None, None, None)",
       "P('expert', None, None, None)"},
      {"dispatch", dispatch, true, "P('expert', None, None, None)", "P(None, 'expert', None, None)",
       "P('expert', None, None, None)"},
      {"wi_0, wi_1 out", experts_hidden, true, "P('expert', None, None, None)", "P(None, 'expert', None, None)",
       "P('expert', None, None, None)"},
      {"wo out", dispatch, false, "P('expert', None, None, None)", "P(None, 'expert', None, None)",
       "P(None, 'expert', None, None)"},
      {"wi", wi, false, "P('expert', None, None)", "P('expert', None, None)", "P('expert', None, None)"},
      {"wi constraint",
       {"exp", "", "mlp"},
       false,
       "P('expert', None, None)",
       "P('expert', None, None)",
       "P('expert', None, None)"},
      {"wo", wo, false, "P('expert', None, None)", "P('expert', None, None)", "P('expert', None, None)"},
  };
  const RuleSet rules = load_rules("default");
  const Mesh mesh = parse_mesh("expert=8", rules.mesh_axes);
  const Resolver before(before_4007(), mesh), now(rules, mesh);
  for (const auto& row : rows) {
    EXPECT_EQ(describe(before.resolve(row.names), mesh), row.before_4007) << row.tensor;
    EXPECT_EQ(describe(now.resolve(row.names), mesh), row.flag_off) << row.tensor;
    const PartitionSpec on = row.obeys_the_flag ? peeled(row.names, now, mesh) : now.resolve(row.names);
    EXPECT_EQ(describe(on, mesh), row.flag_on) << row.tensor;
  }
}

TEST(ExpertAxis, IsPeeledFromTheBatchOnlyAndFsdpStays) {
  const RuleSet rules = load_rules("default");
  const Mesh mesh = parse_mesh("fsdp=2,expert=4", rules.mesh_axes);
  EXPECT_EQ(describe(peeled(dispatch, Resolver(rules, mesh), mesh), mesh), "P('expert', 'fsdp', None, None)");
}

/// The rule `exp` of this set names fsdp too; the batch keeps it all the same.
TEST(ExpertAxis, IsTheOnlyAxisPeeled) {
  const RuleSet rules = load_rules("shard-exp-on-fsdp");
  const Mesh mesh = parse_mesh("fsdp=4,expert=2", rules.mesh_axes);
  EXPECT_EQ(describe(peeled(dispatch, Resolver(rules, mesh), mesh), mesh), "P('expert', 'fsdp', None, None)");
}

TEST(ExpertAxis, FlagChangesNothingWithoutExpertParallelism) {
  const RuleSet rules = load_rules("default");
  const Mesh mesh = parse_mesh("fsdp=4,tensor=2", rules.mesh_axes);
  const Resolver resolver(rules, mesh);
  EXPECT_EQ(peeled(dispatch, resolver, mesh), resolver.resolve(dispatch));
}

/// Sets whose activation_batch_moe lacks the expert axes leave them to the expert dim without any flag.
TEST(ExpertAxis, IsKeptByTheExpertDimInTheOtherSets) {
  EXPECT_EQ(spec_of("ep-as-dp", "expert=8", dispatch), "P(None, 'expert', None, None)");
  EXPECT_EQ(spec_of("ep-as-cp", "expert=8", dispatch), "P('expert', None, None, None)");
  EXPECT_EQ(spec_of("shard-exp-on-fsdp", "expert=8", dispatch), "P('expert', None, None, None)");
  EXPECT_EQ(spec_of("pipeline-large-moe", "expert=8", dispatch), "P('expert', None, None, None)");
  EXPECT_EQ(spec_of("cp-as-ep", "context=2,expert=4", dispatch), "P(('context','expert'), None, None, None)");
  EXPECT_EQ(spec_of("ep-tp", "expert=8", dispatch), "P('expert', None, None, None)");
}

// One row for each published property of a rule set.
struct ResolvedSet {
  const char *set, *mesh;
  LogicalAxes names;
  const char* spec;
};

void expect_specs(const std::vector<ResolvedSet>& rows) {
  for (const auto& row : rows)
    EXPECT_EQ(spec_of(row.set, row.mesh, row.names), row.spec) << row.set << ", " << row.mesh;
}

const LogicalAxes stage_input = {"activation_stage", "activation_batch", "activation_length", "activation_embed"};

TEST(ResolveSets, BehaveAsTheirAuthorsDescribe) {
  expect_specs(
      {// PR #3726: context joins expert inside the experts, shards the sequence outside
       {"cp-as-ep", "fsdp=2,context=2,expert=2", wi, "P(('context','expert'), 'fsdp', None)"},
       {"cp-as-ep", "fsdp=2,context=2,expert=2", {"exp", "", "mlp_no_fsdp"}, "P(('context','expert'), None, None)"},
       {"cp-as-ep", "fsdp=2,context=2,expert=2", layer_input, "P(('fsdp','expert'), 'context', None)"},
       // PR #3988: both axes on the expert dim
       {"shard-exp-on-fsdp", "fsdp=4,expert=2", wi, "P(('expert','fsdp'), None, None)"},
       {"shard-exp-on-fsdp", "fsdp=4,expert=2", {"exp", "", "mlp"}, "P(('expert','fsdp'), None, None)"},
       // PR #2744: buffers between pipeline stages
       {"default", "data=2,stage=2,fsdp=2,fsdp_transpose=2,context=2,context_usp_ulysses=2,tensor=2,expert=2",
        stage_input,
        "P('stage', ('data','fsdp','fsdp_transpose','expert'), ('context','context_usp_ulysses'), 'tensor')"}});
}

TEST(ResolveSets, LetTheExpertAxisActAsTensorParallelism) {
  expect_specs({{"ep-tp", "data=2,expert=4", layer_input, "P('data', None, 'expert')"},
                {"ep-tp", "data=2,fsdp=2,expert=2", layer_input, "P(('data','fsdp'), None, 'expert')"},
                {"ep-tp", "fsdp=2,expert=4", {"embed", "q_heads", "kv"}, "P('fsdp', 'expert', None)"},
                {"ep-tp", "fsdp=2,expert=4", {"heads", "kv", "embed"}, "P('expert', None, 'fsdp')"},
                {"ep-tp", "fsdp=2,expert=4", {"embed", "mlp"}, "P('fsdp', 'expert')"},
                {"ep-tp", "fsdp=2,expert=4", {"embed_vocab", "vocab"}, "P('fsdp', 'expert')"},
                {"ep-tp",
                 "fsdp=2,expert=4",
                 {"activation_batch", "activation_length", "activation_mlp"},
                 "P('fsdp', None, 'expert')"},
                // inside the experts the expert dim keeps the axis
                {"ep-tp", "fsdp=2,expert=4", wi, "P('expert', 'fsdp', None)"},
                {"ep-tp", "fsdp=2,expert=4", {"exp", "", "mlp"}, "P('expert', None, None)"},
                {"ep-tp", "fsdp=2,expert=4", experts_hidden, "P('expert', 'fsdp', None, None)"}});
}

TEST(AxesOfRule, GivesExpertAndContextParallelAxes) {
  const auto axes = [](const char* set, const char* sizes, const char* logical) {
    const RuleSet rules = load_rules(set);
    const Mesh mesh = parse_mesh(sizes, rules.mesh_axes);
    return names_of(PartitionSpec{{axes_of_rule(rules, mesh, logical)}}, mesh).front();
  };
  EXPECT_THAT(axes("default", "expert=8", "exp"), ElementsAre("expert"));
  EXPECT_THAT(axes("default", "fsdp=8", "exp"), testing::IsEmpty()) << "size 1 is dropped";
  EXPECT_THAT(axes("cp-as-ep", "context=2,expert=4", "exp"), ElementsAre("context", "expert"));
  EXPECT_THAT(axes("shard-exp-on-fsdp", "fsdp=4,expert=2", "exp"), ElementsAre("expert", "fsdp"));
  EXPECT_THAT(axes("ep-as-cp", "expert=8", "activation_length"), ElementsAre("expert"));
  EXPECT_THAT(axes("default", "tensor=2,tensor_sequence=2", "activation_vocab"),
              ElementsAre("tensor", "tensor_sequence"));
  EXPECT_THAT(axes("pure-fsdp", "fsdp=8", "exp"), testing::IsEmpty()) << "no such rule";
}

TEST(WithoutAxes, PeelsEveryDimOrOne) {
  const PartitionSpec spec{{{0, 1}, {1}, {}, {2, 1}}};
  EXPECT_EQ(without_axes(spec, {1}), (PartitionSpec{{{0}, {}, {}, {2}}}));
  EXPECT_EQ(without_axes(spec, {1, 2}, 3), (PartitionSpec{{{0, 1}, {1}, {}, {}}}));
  EXPECT_EQ(without_axes(spec, {}), spec);
  EXPECT_THROW(without_axes(spec, {1}, 4), InternalError);
}

}  // namespace
}  // namespace shardplan
