#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <arguments/argument_values.hpp>
#include <arguments/rule_arguments.hpp>
#include <rules/load_rules.hpp>
#include <rules/merge_rules.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

// The words of the command line as the YAML document that a file would be.
ModelRules changes_on_command_line(const GivenArguments& arguments) {
  constexpr std::array keys = {"logical_axis_rules", "override_logical_axis_rules", "mesh_axes", "data_sharding"};
  std::string document;
  for (const char* key : keys)
    if (const auto* given = arguments.find(key); given && !given->in_file)
      document += fmt::format("{}: {}\n", key, given->value);
  return document.empty() ? ModelRules{} : parse_rule_changes(document, "arguments");
}

ModelRules combined(ModelRules first, const ModelRules& then) {
  if (then.override_rules) first.rules.clear();
  std::erase_if(first.rules, [&](const Rule& old) {
    return std::any_of(then.rules.begin(), then.rules.end(),
                       [&](const Rule& rule) { return rule.logical == old.logical; });
  });
  first.rules.insert(first.rules.end(), then.rules.begin(), then.rules.end());
  first.override_rules = first.override_rules || then.override_rules;
  if (!then.mesh_axes.empty()) first.mesh_axes = then.mesh_axes;
  if (!then.data_sharding.empty()) first.data_sharding = then.data_sharding;
  return first;
}

std::string print_names(const std::vector<std::string>& names) {
  return fmt::format("['{}']", fmt::join(names, "','"));
}

std::string print_rules(const std::vector<Rule>& rules) {
  std::string text;
  for (const auto& [logical, axes] : rules)
    text += fmt::format("{}['{}',{}]", text.empty() ? "" : ",", logical, axes.empty() ? "[]" : print_names(axes));
  return "[" + text + "]";
}

}  // namespace

ModelRules read_rule_changes(const GivenArguments& arguments, const Model& model) {
  const auto& file = arguments.config_file();
  ModelRules changes = combined(file ? load_rule_changes(*file) : ModelRules{}, changes_on_command_line(arguments));
  const RuleSet with = read_rules(arguments, model, changes, false), without = read_rules(arguments, model, {}, false);
  const bool idle =
      with.rules == without.rules && with.mesh_axes == without.mesh_axes && with.data_sharding == without.data_sharding;
  return idle ? ModelRules{} : changes;
}

RuleSet read_rules(const GivenArguments& arguments, const Model& model, const ModelRules& changes, bool pipelining) {
  const std::string name = arguments.text("custom_mesh_and_rule", "");
  const RuleSet chosen = load_rules(canonical(name).empty() ? "default" : name);
  RuleSet rules = active_rules(chosen, model.rules, changes);
  return pipelining ? pipelined(std::move(rules)) : rules;
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
