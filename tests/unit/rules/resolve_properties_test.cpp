// What holds for every rule list, mesh and tensor, and for every text that is called a rule file.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <rules/load_rules.hpp>
#include <rules/resolve.hpp>
#include <rules/unreachable_rules.hpp>
#include <set>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

const std::vector<std::string> mesh_names = {"a", "b", "c", "d", "e"};
const std::vector<std::string> axis_names = {"a", "b", "c", "d", "e", "absent"};
const std::vector<std::string> logical_names = {"p", "q", "r", "s", "t"};

rc::Gen<std::vector<std::string>> some_of(const std::vector<std::string>& names) {
  return rc::gen::unique<std::vector<std::string>>(rc::gen::elementOf(names));
}

rc::Gen<RuleSet> any_rules() {
  const auto rule = rc::gen::pair(rc::gen::elementOf(logical_names),
                                  rc::gen::resize(static_cast<int>(axis_names.size()) / 2, some_of(axis_names)));
  return rc::gen::map(rc::gen::container<std::vector<std::pair<std::string, std::vector<std::string>>>>(rule),
                      [](auto pairs) {
                        RuleSet set{.name = "any", .mesh_axes = mesh_names, .rules = {}, .data_sharding = {}};
                        for (auto& [logical, axes] : pairs) set.rules.push_back({logical, axes});
                        return set;
                      });
}

rc::Gen<Mesh> any_mesh(int largest) {
  return rc::gen::map(rc::gen::container<std::vector<int>>(mesh_names.size(), rc::gen::inRange(1, largest + 1)),
                      [](const std::vector<int>& sizes) {
                        Mesh mesh;
                        for (std::size_t i = 0; i < sizes.size(); ++i)
                          mesh.axes.push_back({mesh_names[i], sizes[i], 1});
                        return mesh;
                      });
}

/// Names once each, with unnamed and unknown dims among them.
rc::Gen<LogicalAxes> any_tensor() {
  return rc::gen::map(rc::gen::resize(3, some_of(logical_names)), [](const std::vector<std::string>& some) {
    LogicalAxes names;
    for (const auto& name : some)
      names.push_back(std::string_view(*std::find(logical_names.begin(), logical_names.end(), name)));
    const auto middle = names.begin() + names.size() / 2;
    names.insert(middle, "unknown");
    names.insert(middle, "");
    return names;
  });
}

/// The algorithm as flax's logical_to_mesh_axes has it, step by step and slow: sets of names, every rule in turn.
PartitionSpec textbook_resolve(const LogicalAxes& names, const RuleSet& rules, const Mesh& mesh) {
  std::vector<std::optional<std::vector<std::string>>> assigned(names.size());
  std::set<std::string> used;
  for (const auto& rule : rules.rules) {
    const LogicalName name{std::string_view(rule.logical)};
    const auto i = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    if (i == names.size() || assigned[i]) continue;
    if (std::any_of(rule.axes.begin(), rule.axes.end(), [&](const auto& axis) { return used.contains(axis); }))
      continue;
    assigned[i] = rule.axes;
    used.insert(rule.axes.begin(), rule.axes.end());
  }
  PartitionSpec spec;
  spec.dims.resize(names.size());
  for (std::size_t i = 0; i < names.size(); ++i)
    for (const auto& axis : assigned[i].value_or(std::vector<std::string>{}))
      if (mesh.size_of(axis) > 1) spec.dims[i].push_back(mesh.find(axis).value());
  return spec;
}

RC_GTEST_PROP(ResolveProperty, EqualsTheTextbookAlgorithm, ()) {
  const RuleSet rules = *any_rules();
  const Mesh mesh = *any_mesh(3);
  const LogicalAxes tensor = *any_tensor();
  RC_ASSERT(resolve(tensor, rules, mesh) == textbook_resolve(tensor, rules, mesh));
}

RC_GTEST_PROP(ResolveProperty, NeverPutsAMeshAxisOnTwoDims, ()) {
  const PartitionSpec spec = resolve(*any_tensor(), *any_rules(), *any_mesh(3));
  std::map<AxisId, int> uses;
  for (const auto& dim : spec.dims)
    for (const AxisId axis : dim) ++uses[axis];
  RC_ASSERT(std::all_of(uses.begin(), uses.end(), [](const auto& use) { return use.second == 1; }));
}

RC_GTEST_PROP(ResolveProperty, ShardsNothingOnOneDevice, ()) {
  const PartitionSpec spec = resolve(*any_tensor(), *any_rules(), *any_mesh(1));
  RC_ASSERT(std::all_of(spec.dims.begin(), spec.dims.end(), [](const AxisList& dim) { return dim.empty(); }));
}

/// Resolved once with every axis above 1, the spec of any other mesh follows by dropping its axes of size 1.
RC_GTEST_PROP(ResolveProperty, DependsOnSizesOnlyThroughDropping, ()) {
  const RuleSet rules = *any_rules();
  const Mesh mesh = *any_mesh(3);
  const LogicalAxes tensor = *any_tensor();
  Mesh large = mesh;
  AxisList ones;
  for (std::size_t i = 0; i < mesh.axes.size(); ++i) {
    if (mesh.axes[i].size() == 1) ones.push_back(static_cast<AxisId>(i));
    large.axes[i].ici = 2;
  }
  RC_ASSERT(resolve(tensor, rules, mesh) == without_axes(resolve(tensor, rules, large), ones));
}

RC_GTEST_PROP(ResolveProperty, UnreachableRulesCanBeDeleted, ()) {
  const RuleSet rules = *any_rules();
  const Mesh mesh = *any_mesh(3);
  const LogicalAxes tensor = *any_tensor();
  RuleSet fewer = rules;
  const auto unreachable = unreachable_rules(rules);
  for (auto hidden = unreachable.rbegin(); hidden != unreachable.rend(); ++hidden)
    fewer.rules.erase(fewer.rules.begin() + static_cast<std::ptrdiff_t>(hidden->rule));
  RC_ASSERT(resolve(tensor, rules, mesh) == resolve(tensor, fewer, mesh));
}

/// Either rules or an InputError; anything else fails the test.
void read_as_rules(const std::string& text) {
  try {
    parse_rules(text, "any.yml");
  } catch (const InputError&) {
  }
}

RC_GTEST_PROP(LoadRulesProperty, AnswersEveryText, (const std::string& text)) { read_as_rules(text); }

RC_GTEST_PROP(LoadRulesProperty, AnswersEveryTextOfYamlsLetters, ()) {
  read_as_rules(*rc::gen::container<std::string>(rc::gen::elementOf(std::string("[]{}:,-&*!|>'\"%@?#ab1 \n\t"))));
}

RC_GTEST_PROP(LoadRulesProperty, AnswersEveryDamageToAValidFile, ()) {
  std::string text = rules_yaml("cp-as-ep");
  const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
  const auto length = *rc::gen::inRange<std::size_t>(0, 40);
  text.replace(at, std::min(length, text.size() - at), *rc::gen::arbitrary<std::string>());
  read_as_rules(text);
}

}  // namespace
}  // namespace shardplan
