#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <planner/check/rule_set_findings.hpp>
#include <rules/logical_axes.hpp>
#include <rules/unreachable_rules.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

std::string in_yaml(const Rule& rule) {
  if (rule.axes.empty()) return fmt::format("['{}', []]", rule.logical);
  return fmt::format("['{}', ['{}']]", rule.logical, fmt::join(rule.axes, "', '"));
}

void add_unreachable(std::vector<Finding>& findings, const RuleSet& set) {
  for (const auto& [rule, hidden_by] : unreachable_rules(set)) {
    const Rule &later = set.rules[rule], &earlier = set.rules[hidden_by];
    const bool repeats = later == earlier;
    findings.push_back(
        {FindingId::rule_unreachable,
         Severity::warning,
         repeats ? fmt::format("rule {} stands here again: it can never apply", in_yaml(later))
                 : fmt::format("rule {} can never apply: {} comes first and asks for no axis that it doesn't",
                               in_yaml(later), in_yaml(earlier)),
         later.logical,
         {},
         repeats ? "leave the repeated rule out" : "put the longer list first, or leave the rule out",
         {later, earlier},
         {rule, hidden_by}});
  }
}

void add_unknown_names(std::vector<Finding>& findings, const RuleSet& set) {
  const auto& known = logical_axis_names();
  for (const auto& rule : set.rules) {
    if (std::binary_search(known.begin(), known.end(), rule.logical)) continue;
    const auto nearest = nearest_names(rule.logical, known, 1);
    findings.push_back({FindingId::rule_name_unknown,
                        Severity::warning,
                        fmt::format("no tensor of MaxText has the logical axis '{}': the rule does nothing, and what it "
                                    "was meant for is replicated",
                                    rule.logical),
                        rule.logical,
                        {},
                        nearest.empty() ? "leave the rule out" : fmt::format("name it '{}', the nearest", nearest.front()),
                        {rule}});
  }
}

/// An axis outside mesh_axes has size 1; it still blocks, but MaxText's own sets do that too. One that MaxText has
/// under no name is a misspelling.
void add_unknown_axes(std::vector<Finding>& findings, const RuleSet& set) {
  for (const auto& rule : set.rules)
    for (const auto& axis : rule.axes) {
      const bool in_mesh = std::find(set.mesh_axes.begin(), set.mesh_axes.end(), axis) != set.mesh_axes.end();
      if (in_mesh || axis_role(axis) != AxisRole::other) continue;
      const auto nearest = nearest_names(axis, set.mesh_axes, 1);
      findings.push_back(
          {FindingId::rule_axis_unknown,
           Severity::warning,
           fmt::format("rule {} names '{}', which is no mesh axis: it counts as size 1", in_yaml(rule), axis),
           rule.logical,
           {axis},
           nearest.empty() ? "leave the axis out" : fmt::format("name it '{}', the nearest", nearest.front()),
           {rule}});
    }
}

}  // namespace

std::vector<Finding> rule_set_findings(const RuleSet& rules) {
  std::vector<Finding> findings;
  add_unreachable(findings, rules);
  for (Finding& finding : misspellings(rules)) findings.push_back(std::move(finding));
  return findings;
}

std::vector<Finding> misspellings(const RuleSet& rules) {
  std::vector<Finding> findings;
  add_unknown_names(findings, rules);
  add_unknown_axes(findings, rules);
  return findings;
}

}  // namespace shardplan
