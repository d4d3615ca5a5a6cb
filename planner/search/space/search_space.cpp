#include <fmt/format.h>

#include <algorithm>
#include <arguments/argument_values.hpp>
#include <arguments/given_arguments.hpp>
#include <arguments/keys/argument_table.hpp>
#include <arguments/rule_arguments.hpp>
#include <arguments/step_size.hpp>
#include <arguments/train_arguments.hpp>
#include <compilers/load_compiler.hpp>
#include <hardware/slices.hpp>
#include <models/model_overrides.hpp>
#include <planner/search/space/search_space.hpp>
#include <rules/load_rules.hpp>
#include <rules/merge_rules.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

GivenArguments settings_of(const PlanRequest& request) {
  std::vector<std::string> words;
  for (const auto& [key, value] : request.settings) words.push_back(key + "=" + value);
  return GivenArguments(words, std::nullopt);
}

/// What the search decides itself, and the option that fixes it.
void check_settings(const GivenArguments& settings, const PlanRequest& request) {
  const std::map<std::string, std::string> options = {{"compile_topology", "--hardware and --chips"},
                                                      {"compile_topology_num_slices", "--slices"},
                                                      {"num_slices", "--slices"},
                                                      {"custom_mesh_and_rule", "--rules"},
                                                      {"hardware", "--hardware"},
                                                      {"sparse_matmul", "--moe"},
                                                      {"use_ring_of_experts", "--moe"}};
  for (const auto& [key, argument] : settings.all()) {
    if (const auto option = options.find(key); option != options.end())
      throw InputError(fmt::format("{}: a plan decides this; use {}", argument.place, option->second));
    if (role_of(key) == ArgumentRole::axis)
      throw InputError(fmt::format("{}: a plan decides the mesh; fix an axis with --mesh", argument.place));
    if (key == "model_name" && argument.value != request.model.name)
      throw InputError(fmt::format("{}: the model asked for is {}", argument.place, request.model.name));
  }
}

std::vector<ModelOverride> overridden_dims(const GivenArguments& settings) {
  std::vector<ModelOverride> overrides;
  for (const auto& [key, argument] : settings.all())
    if (role_of(key) == ArgumentRole::model_dim)
      overrides.emplace_back(key, parse_integer(argument.value, argument.place));
  return overrides;
}

TrainConfig settings_config(const GivenArguments& settings, const PlanRequest& request, const Model& model) {
  TrainConfig config = read_train_config(settings, model);
  if (request.sequence_length <= 0) return config;
  if (const auto* given = settings.find("max_target_length"))
    if (config.max_target_length != request.sequence_length)
      throw InputError(
          fmt::format("{}: sequences of {} tokens are asked for elsewhere", given->place, request.sequence_length));
  config.max_target_length = request.sequence_length;
  return config;
}

std::vector<RuleSet> load_rule_sets(const PlanRequest& request, const ModelRules& changes) {
  if (request.rule_sets.empty()) throw InternalError("a plan request without rule sets");
  std::vector<RuleSet> sets;
  for (const auto& name : request.rule_sets)
    sets.push_back(active_rules(load_rules(name), request.model.rules, changes));
  return sets;
}

std::vector<std::string> all_axes(const std::vector<RuleSet>& sets) {
  std::vector<std::string> axes;
  for (const auto& set : sets)
    for (const auto& axis : set.mesh_axes)
      if (std::find(axes.begin(), axes.end(), axis) == axes.end()) axes.push_back(axis);
  return axes;
}

std::map<std::string, int> read_fixed_axes(const std::string& text, const std::vector<std::string>& axes) {
  std::map<std::string, int> fixed;
  if (text.empty()) return fixed;
  const Mesh mesh = parse_mesh(text, axes);
  for (const auto& axis : mesh.axes) {
    const bool named = ("," + text).find("," + axis.name + "=") != std::string::npos;
    if (named) fixed[axis.name] = axis.size();
  }
  return fixed;
}

/// As MaxText edits it for more than one stage (rules/merge_rules.hpp); a set without the axis can't pipeline.
std::optional<RuleSet> edited_for_stages(const RuleSet& set) {
  const auto has = [&](const char* axis) {
    return std::find(set.mesh_axes.begin(), set.mesh_axes.end(), axis) != set.mesh_axes.end();
  };
  return has("stage") && has("data") ? std::optional(pipelined(set)) : std::nullopt;
}

std::vector<std::string> least_memory_first(std::vector<std::string> policies) {
  const auto& order = remat_policies();
  const auto place = [&](const std::string& policy) {
    return std::find(order.begin(), order.end(), policy) - order.begin();
  };
  std::stable_sort(policies.begin(), policies.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
  policies.erase(std::unique(policies.begin(), policies.end()), policies.end());
  return policies;
}

std::vector<std::string> policies_of(const PlanRequest& request, const GivenArguments& settings) {
  if (const auto* given = settings.find("remat_policy")) return {given->value};
  for (const auto& policy : request.remat_policies) saved_by_policy(policy);  // throws on an unknown one
  return request.remat_policies.empty() ? std::vector<std::string>{"full"} : least_memory_first(request.remat_policies);
}

bool offloads(const std::string& policy) {
  if (policy == "custom") return false;
  const auto saved = saved_by_policy(policy);
  return std::any_of(saved.begin(), saved.end(), [](const auto& entry) { return entry.second == SavePlace::host; });
}

/// Policies that offload activations look free, because no profile has the bandwidth to the host: they are searched
/// only when nothing else is asked for.
void leave_out_unpriced(SearchSpace& space) {
  auto& policies = space.remat_policies;
  if (std::all_of(policies.begin(), policies.end(), offloads)) return;
  std::copy_if(policies.begin(), policies.end(), std::back_inserter(space.unpriced_policies), offloads);
  std::erase_if(policies, offloads);
}

std::vector<MoePath> paths_of(const PlanRequest& request, const Model& model) {
  if (!model.has_experts()) return {MoePath::none};
  if (request.moe_paths.empty()) return {MoePath::dropping, MoePath::ragged, MoePath::ring};
  return request.moe_paths;
}

std::optional<double> fixed_batch(const PlanRequest& request, const GivenArguments& settings,
                                  const TrainConfig& config) {
  const auto* given = settings.find("per_device_batch_size");
  if (given && request.per_device_batch && config.per_device_batch_size != *request.per_device_batch)
    throw InputError(
        fmt::format("{}: --per-device-batch {} is asked for too", given->place, *request.per_device_batch));
  if ((given || request.per_device_batch) && request.global_batch_tokens)
    throw InputError("--global-batch-tokens and a batch per device are both given; one follows from the other");
  if (given) return config.per_device_batch_size;
  return request.per_device_batch;
}

void check_tokens(const SearchSpace& space) {
  const std::int64_t length = space.base.config.max_target_length;
  if (space.global_batch_tokens && (*space.global_batch_tokens < length || *space.global_batch_tokens % length != 0))
    throw InputError(fmt::format("--global-batch-tokens {}: not a whole number of sequences of {} tokens",
                                 *space.global_batch_tokens, length));
  const std::int64_t devices = static_cast<std::int64_t>(space.base.slice.devices) * space.base.num_slices;
  if (space.global_batch_tokens.value_or(0) / devices > most_tokens_a_device)
    throw InputError(fmt::format("--global-batch-tokens {}: more than {} a device", *space.global_batch_tokens,
                                 most_tokens_a_device));
  TrainConfig config = space.base.config;
  config.per_device_batch_size = space.per_device_batch.value_or(0);
  check_step_size(config);
}

/// Nodes are what slices are to a torus: the dcn axes join them.
Machine in_nodes(const HardwareProfile& profile, int chips, int slices) {
  const int node = profile.chips_per_node;
  if (!ends_at_node(profile.fabric) || slices > 1 || chips <= node)
    return {profile, slice_of_chips(profile, chips / slices), slices};
  slice_of_chips(profile, chips);  // throws unless the nodes are whole
  return {profile, slice_of_chips(profile, node), chips / node};
}

}  // namespace

Machine machine_of(const HardwareProfile& profile, int chips, int slices) {
  if (chips < 1) throw InputError(fmt::format("--chips {}: expected at least 1", chips));
  if (slices < 1) throw InputError(fmt::format("--slices {}: expected at least 1", slices));
  if (chips % slices != 0) throw InputError(fmt::format("{} chips can't be split into {} equal slices", chips, slices));
  const Machine machine = in_nodes(profile, chips, slices);
  if (ends_at_node(profile.fabric) && machine.slice.chips > profile.chips_per_node)
    throw InputError(fmt::format("{} {}s in {} slices is more than the {} of a node", chips, profile.name, slices,
                                 profile.chips_per_node));
  return machine;
}

SearchSpace search_space(const PlanRequest& request, Machine machine) {
  if (!request.model.not_modelled.empty())
    throw InputError(
        fmt::format("model {}: shardplan does not model {} yet", request.model.name, request.model.not_modelled));
  const GivenArguments settings = settings_of(request);
  check_settings(settings, request);
  SearchSpace space;
  Configuration& base = space.base;
  base.model_overrides = overridden_dims(settings);
  base.model = with_overrides(request.model, base.model_overrides);
  base.config = settings_config(settings, request, base.model);
  base.compiler = load_compiler(machine.hardware.compiler);
  base.hardware = std::move(machine.hardware);
  base.slice = std::move(machine.slice);
  base.num_slices = machine.num_slices;
  base.config = with_kernels(base.config, base.compiler.kernels, settings);
  base.rule_changes = read_rule_changes(settings, base.model);
  space.rule_sets = load_rule_sets(request, base.rule_changes);
  space.fixed_axes = read_fixed_axes(request.mesh, all_axes(space.rule_sets));
  for (const RuleSet& set : space.rule_sets) space.pipelined_sets.push_back(edited_for_stages(set));
  space.moe_paths = paths_of(request, base.model);
  if (settings.find("moe_dispatch_no_expert_sharding"))
    space.dispatch_peeled = base.config.moe_dispatch_no_expert_sharding;
  space.layers_per_stage_fixed = settings.find("num_layers_per_pipeline_stage") != nullptr;
  space.gathered_once_fixed = settings.find("pipeline_fsdp_ag_once") != nullptr;
  space.optimizer_over_data_fixed = settings.find("shard_optimizer_over_data") != nullptr;
  space.remat_policies = policies_of(request, settings);
  leave_out_unpriced(space);
  space.per_device_batch = fixed_batch(request, settings, base.config);
  space.global_batch_tokens = request.global_batch_tokens;
  check_tokens(space);
  return space;
}

const RuleSet& rules_on(const SearchSpace& space, std::size_t rules, const Mesh& mesh) {
  if (pipeline_stages(mesh) == 1) return space.rule_sets[rules];
  if (!space.pipelined_sets[rules])
    throw InternalError(
        fmt::format("{} has stages that rule set {} has not", describe(mesh), space.rule_sets[rules].name));
  return *space.pipelined_sets[rules];
}

SearchSpace without_pipelines(SearchSpace space) {
  space.pipelined_sets.assign(space.rule_sets.size(), std::nullopt);
  return space;
}

SearchSpace with_pipelines_only(SearchSpace space) {
  space.plain_meshes = false;
  return space;
}

TrainConfig with_remat(TrainConfig config, const std::string& policy) {
  if (policy == "custom") return config;  // only settings say what it saves
  config.saved = saved_by_policy(policy);
  config.remat_policy = policy;
  return config;
}

}  // namespace shardplan
