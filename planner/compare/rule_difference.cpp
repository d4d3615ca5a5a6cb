#include <algorithm>
#include <planner/compare/rule_difference.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

std::vector<RuleLine> lines_of(const LinedRules& rules, const std::string& logical) {
  std::vector<RuleLine> lines;
  for (std::size_t i = 0; i < rules.set.rules.size(); ++i)
    if (rules.set.rules[i].logical == logical) lines.push_back({rules.lines[i], rules.set.rules[i]});
  return lines;
}

std::vector<std::string> axes_in_order(const RuleSet& set) {
  std::vector<std::string> names;
  for (const auto& rule : set.rules)
    if (std::find(names.begin(), names.end(), rule.logical) == names.end()) names.push_back(rule.logical);
  return names;
}

bool same_rules(const std::vector<RuleLine>& a, const std::vector<RuleLine>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const RuleLine& x, const RuleLine& y) { return x.rule == y.rule; });
}

/// The rules of `set` in the order that `second` has them in; what it hasn't keeps its place at the end.
std::vector<Rule> in_order_of(const std::vector<Rule>& rules, const RuleSet& second) {
  const auto names = axes_in_order(second);
  std::vector<Rule> sorted = rules;
  const auto place = [&](const Rule& rule) { return std::find(names.begin(), names.end(), rule.logical); };
  std::stable_sort(sorted.begin(), sorted.end(), [&](const Rule& a, const Rule& b) { return place(a) < place(b); });
  return sorted;
}

/// Where `logical` belongs in `set`: behind the axis that comes before it in `second`, at the front where none does.
std::vector<Rule>::iterator place_for(RuleSet& set, const std::string& logical, const RuleSet& second) {
  auto place = set.rules.begin();
  for (const auto& name : axes_in_order(second)) {
    if (name == logical) break;
    const auto last = std::find_if(set.rules.rbegin(), set.rules.rend(), [&](const Rule& r) { return r.logical == name; });
    if (last != set.rules.rend()) place = last.base();
  }
  return place;
}

void swap_rules(RuleSet& set, const RuleChange& change, const RuleSet& second) {
  const auto is_it = [&](const Rule& rule) { return rule.logical == change.logical; };
  auto first = std::find_if(set.rules.begin(), set.rules.end(), is_it);
  const bool has_place = first != set.rules.end();
  const auto index = first - set.rules.begin();
  std::erase_if(set.rules, is_it);
  auto place = has_place ? set.rules.begin() + index : place_for(set, change.logical, second);
  for (const auto& [line, rule] : change.second) place = set.rules.insert(place, rule) + 1;
}

}  // namespace

std::string_view name_of(RulePart part) {
  switch (part) {
    case RulePart::rules:
      return "rules";
    case RulePart::order:
      return "order";
    case RulePart::mesh_axes:
      return "mesh_axes";
    case RulePart::data_sharding:
      return "data_sharding";
  }
  throw InternalError("unknown RulePart");
}

RuleSet with_change(RuleSet set, const RuleChange& change, const RuleSet& second) {
  switch (change.part) {
    case RulePart::rules:
      swap_rules(set, change, second);
      return set;
    case RulePart::order:
      set.rules = in_order_of(set.rules, second);
      return set;
    case RulePart::mesh_axes:
      set.mesh_axes = second.mesh_axes;
      return set;
    case RulePart::data_sharding:
      set.data_sharding = second.data_sharding;
      return set;
  }
  throw InternalError("unknown RulePart");
}

RuleDifference rule_difference(const LinedRules& first, const LinedRules& second) {
  RuleDifference difference{first.set.name, second.set.name, {}};
  auto names = axes_in_order(first.set);
  for (const auto& name : axes_in_order(second.set))
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  RuleSet changed = first.set;
  for (const auto& name : names) {
    RuleChange change{RulePart::rules, name, lines_of(first, name), lines_of(second, name), std::nullopt};
    if (same_rules(change.first, change.second)) continue;
    swap_rules(changed, change, second.set);
    difference.changes.push_back(std::move(change));
  }
  if (changed.rules != second.set.rules) difference.changes.push_back({RulePart::order, "", {}, {}, std::nullopt});
  if (first.set.mesh_axes != second.set.mesh_axes)
    difference.changes.push_back(
        {RulePart::mesh_axes, "", {{0, {"", first.set.mesh_axes}}}, {{0, {"", second.set.mesh_axes}}}, {}});
  if (first.set.data_sharding != second.set.data_sharding)
    difference.changes.push_back(
        {RulePart::data_sharding, "", {{0, {"", first.set.data_sharding}}}, {{0, {"", second.set.data_sharding}}}, {}});
  return difference;
}

}  // namespace shardplan
