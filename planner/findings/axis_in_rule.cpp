#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <planner/findings/axis_in_rule.hpp>
#include <planner/words/rule_words.hpp>

namespace shardplan {
namespace {

const Rule* first_rule(const RuleSet& rules, const std::string& logical) {
  const auto found =
      std::find_if(rules.rules.begin(), rules.rules.end(), [&](const Rule& rule) { return rule.logical == logical; });
  return found == rules.rules.end() ? nullptr : &*found;
}

}  // namespace

int count_rules(const RuleSet& rules, const std::string& logical) {
  return static_cast<int>(std::count_if(rules.rules.begin(), rules.rules.end(),
                                        [&](const Rule& rule) { return rule.logical == logical; }));
}

bool names_axis(const RuleSet& rules, const std::string& logical, const std::string& axis) {
  const Rule* rule = first_rule(rules, logical);
  return rule && std::find(rule->axes.begin(), rule->axes.end(), axis) != rule->axes.end();
}

Rule with_axis(Rule rule, const std::string& axis, const std::vector<std::string>& mesh_axes) {
  if (std::find(rule.axes.begin(), rule.axes.end(), axis) != rule.axes.end()) return rule;
  const auto place = [&](const std::string& name) { return std::find(mesh_axes.begin(), mesh_axes.end(), name); };
  const auto later =
      std::find_if(rule.axes.begin(), rule.axes.end(), [&](const std::string& name) { return place(name) > place(axis); });
  rule.axes.insert(later, axis);
  return rule;
}

AxisOffer offer_axes(const RuleSet& rules, const std::string& logical, const std::vector<std::string>& axes) {
  const Rule* known = first_rule(rules, logical);
  AxisOffer offer{known ? *known : Rule{logical, {}}, known != nullptr, ""};
  Rule widened = offer.rule;
  for (const std::string& axis : axes) widened = with_axis(std::move(widened), axis, rules.mesh_axes);
  offer.words = known ? fmt::format("add '{}' to rule {}: {}", fmt::join(axes, "' and '"), logical, rule_in_yaml(widened))
                      : fmt::format("add {} to the rules", rule_in_yaml(widened));
  return offer;
}

}  // namespace shardplan
