#include <fmt/format.h>

#include <algorithm>
#include <rules/merge_rules.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

bool has_rule(const std::vector<Rule>& rules, const std::string& logical) {
  return std::any_of(rules.begin(), rules.end(), [&](const Rule& rule) { return rule.logical == logical; });
}

std::vector<Rule> merged(std::vector<Rule> old, const std::vector<Rule>& added) {
  std::erase_if(old, [&](const Rule& rule) { return has_rule(added, rule.logical); });
  old.insert(old.end(), added.begin(), added.end());
  return old;
}

/// The keys of the model's file that the user's arguments don't have.
ModelRules without_keys_of(const ModelRules& user, ModelRules model) {
  if (!user.rules.empty()) model.rules.clear();
  if (user.override_rules) model.override_rules = false;
  if (!user.mesh_axes.empty()) model.mesh_axes.clear();
  if (!user.data_sharding.empty()) model.data_sharding.clear();
  return model;
}

std::vector<std::string>::iterator place_of(AxisRole role, std::vector<std::string>& axes) {
  return std::find(axes.begin(), axes.end(), name_of(role));
}

void stage_before_data(std::vector<std::string>& mesh_axes, const std::string& set) {
  const auto stage = place_of(AxisRole::stage, mesh_axes);
  if (stage == mesh_axes.end()) return;
  const auto data = place_of(AxisRole::data, mesh_axes);
  if (data == mesh_axes.end())
    throw InputError(fmt::format("rule set '{}': pipelining needs the mesh axis 'data' beside 'stage'", set));
  if (data < stage) std::iter_swap(data, stage);
}

void stage_first(std::vector<std::string>& data_sharding) {
  const auto stage = place_of(AxisRole::stage, data_sharding);
  if (stage != data_sharding.end()) std::rotate(data_sharding.begin(), stage, stage + 1);
}

void stage_acts_as_data(std::vector<std::string>& axes) {
  std::erase(axes, name_of(AxisRole::stage));
  const auto data = place_of(AxisRole::data, axes);
  if (data != axes.end()) axes.insert(data, std::string(name_of(AxisRole::stage)));
}

}  // namespace

RuleSet merge_rules(RuleSet rules, const ModelRules& changes) {
  if (!changes.mesh_axes.empty()) rules.mesh_axes = changes.mesh_axes;
  if (!changes.data_sharding.empty()) rules.data_sharding = changes.data_sharding;
  rules.rules = changes.override_rules ? changes.rules : merged(std::move(rules.rules), changes.rules);
  return rules;
}

RuleSet active_rules(const RuleSet& chosen, const ModelRules& model, const ModelRules& user) {
  if (chosen.custom) return chosen;
  return merge_rules(merge_rules(chosen, user.in_place_of_models ? without_keys_of(user, model) : model), user);
}

RuleSet pipelined(RuleSet rules) {
  stage_before_data(rules.mesh_axes, rules.name);
  stage_first(rules.data_sharding);
  const auto embed_and_logits = std::find_if(rules.rules.begin(), rules.rules.end(), [](const Rule& rule) {
    return rule.logical == "activation_embed_and_logits_batch";
  });
  if (embed_and_logits != rules.rules.end())
    embed_and_logits->axes = names_of(
        {AxisRole::stage, AxisRole::data, AxisRole::fsdp, AxisRole::fsdp_transpose, AxisRole::expert});
  return rules;
}

RuleSet rules_outside_pipeline(RuleSet rules) {
  for (auto& rule : rules.rules) stage_acts_as_data(rule.axes);
  return rules;
}

}  // namespace shardplan
