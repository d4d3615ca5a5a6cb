#include <fmt/format.h>
#include <fmt/ranges.h>

#include <arguments/words/argument_values.hpp>
#include <arguments/rule_arguments.hpp>
#include <rules/load_rules.hpp>
#include <rules/merge_rules.hpp>
#include <rules/sequence_axis.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

/// YAML, in which plain words need no quotes: a shell has its own.
std::string print_names(const std::vector<std::string>& names) {
  return fmt::format("[{}]", fmt::join(names, ","));
}

std::string print_rules(const std::vector<Rule>& rules) {
  std::string text;
  for (const auto& [logical, axes] : rules)
    text += fmt::format("{}[{},{}]", text.empty() ? "" : ",", logical, print_names(axes));
  return "[" + text + "]";
}

}  // namespace

RuleSet chosen_rules(const GivenArguments& arguments) {
  const std::string name = arguments.text("custom_mesh_and_rule", "");
  return load_rules(canonical(name).empty() ? "default" : name);
}

ModelRules changes_in_force(const ModelRules& changes, const RuleSet& chosen, const Model& model) {
  const RuleSet with = active_rules(chosen, model.rules, changes), without = active_rules(chosen, model.rules);
  const bool idle =
      with.rules == without.rules && with.mesh_axes == without.mesh_axes && with.data_sharding == without.data_sharding;
  return idle ? ModelRules{} : changes;
}

std::vector<std::pair<std::string, std::string>> rules_to_run(const RuleSet& rules, const ModelRules& changes) {
  if (is_published(rules)) return rules_as_arguments(rules, changes);
  return {{"logical_axis_rules", print_rules(rules.rules)},
          {"override_logical_axis_rules", "true"},
          {"mesh_axes", print_names(rules.mesh_axes)},
          {"data_sharding", fmt::format("[{}]", print_names(rules.data_sharding))},
          {"context_sharding", sequence_axis(rules)}};
}

std::vector<std::pair<std::string, std::string>> rules_as_arguments(const RuleSet& rules, const ModelRules& changes) {
  std::vector<std::pair<std::string, std::string>> printed;
  if (rules.name != "default") printed.emplace_back("custom_mesh_and_rule", rules.name);
  if (rules.custom) return printed;  // MaxText drops all other changes then
  if (!changes.rules.empty()) printed.emplace_back("logical_axis_rules", print_rules(changes.rules));
  if (changes.override_rules) printed.emplace_back("override_logical_axis_rules", "true");
  if (!changes.mesh_axes.empty()) printed.emplace_back("mesh_axes", print_names(changes.mesh_axes));
  if (!changes.data_sharding.empty())
    printed.emplace_back("data_sharding", fmt::format("[{}]", print_names(changes.data_sharding)));
  return printed;
}

}  // namespace shardplan
