#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
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

bool is_same(const RuleSet& a, const RuleSet& b) {
  return a.rules == b.rules && a.mesh_axes == b.mesh_axes && a.data_sharding == b.data_sharding;
}

/// Both say something, and not the same.
template <class List>
bool contradict(const List& a, const List& b) {
  return !a.empty() && !b.empty() && a != b;
}

/// configs/pyconfig.py, validate_no_keys_overridden_twice.
ModelRules on_command_line(const GivenArguments& arguments, const Model& model) {
  ModelRules words = arguments.rules_on_command_line();
  const std::pair<const char*, bool> keys[] = {
      {"logical_axis_rules", contradict(words.rules, model.rules.rules)},
      {"mesh_axes", contradict(words.mesh_axes, model.rules.mesh_axes)},
      {"data_sharding", contradict(words.data_sharding, model.rules.data_sharding)}};
  for (const auto& [key, contradicts] : keys) {
    if (!contradicts) continue;
    if (!arguments.flag("override_model_config", false))
      throw InputError(fmt::format("{}: MaxText's file of {} says others; add override_model_config=true, which leaves "
                                   "those out",
                                   key, model.name));
    words.in_place_of_models = true;
  }
  return words;
}

/// Over other axes JAX can't lay the batch out.
void check_data_sharding(const ModelRules& given, const RuleSet& in_force) {
  for (const auto& axis : given.data_sharding)
    if (std::find(in_force.mesh_axes.begin(), in_force.mesh_axes.end(), axis) == in_force.mesh_axes.end())
      throw InputError(fmt::format("data_sharding: {}", unknown_name("mesh axis", axis, in_force.mesh_axes)));
}

}  // namespace

RuleSet chosen_rules(const GivenArguments& arguments) {
  const std::string name = arguments.text("custom_mesh_and_rule", "");
  return load_rules(canonical(name).empty() ? "default" : name);
}

ModelRules changes_in_force(const GivenArguments& arguments, const RuleSet& chosen, const Model& model) {
  if (chosen.custom) return arguments.rules_on_command_line();  // idle; MaxText drops them too
  ModelRules changes = on_command_line(arguments, model);
  const RuleSet plain = active_rules(chosen, model.rules);
  const RuleSet under_file = merge_rules(chosen, arguments.rules_in_file());
  const RuleSet with = active_rules(under_file, model.rules, changes);
  check_data_sharding(arguments.rules_in_file(), with);
  check_data_sharding(arguments.rules_on_command_line(), with);
  if (is_same(with, plain)) return {};
  if (is_same(active_rules(under_file, model.rules), plain)) return changes;
  return {.override_rules = true,
          .mesh_axes = with.mesh_axes == plain.mesh_axes ? std::vector<std::string>{} : with.mesh_axes,
          .rules = with.rules,
          .data_sharding = with.data_sharding == plain.data_sharding ? std::vector<std::string>{} : with.data_sharding,
          .in_place_of_models = model.rules != ModelRules{}};
}

std::vector<std::pair<std::string, std::string>> rules_to_run(const RuleSet& rules, const ModelRules& changes,
                                                              bool looks_for_sequence_axis) {
  std::vector<std::string> axes = rules.mesh_axes;
  const bool lacks_axis = looks_for_sequence_axis && std::find(axes.begin(), axes.end(), sequence_axis(rules)) == axes.end();
  if (is_published(rules) && !lacks_axis) return rules_as_arguments(rules, changes);
  if (lacks_axis) axes.emplace_back(sequence_axis(rules));
  return {{"logical_axis_rules", print_rules(rules.rules)},
          {"override_logical_axis_rules", "true"},
          {"mesh_axes", print_names(axes)},
          {"data_sharding", fmt::format("[{}]", print_names(rules.data_sharding))},
          {"context_sharding", std::string(sequence_axis(rules))}};
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
