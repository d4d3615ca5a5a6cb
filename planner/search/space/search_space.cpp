#include <fmt/format.h>

#include <algorithm>
#include <planner/evaluate/fastest_blocks.hpp>
#include <planner/search/space/search_space.hpp>
#include <rules/merge_rules.hpp>
#include <shardplan/collective/counted.hpp>
#include <shardplan/error.hpp>
#include <shardplan/step_size.hpp>

namespace shardplan {
namespace {

std::vector<RuleSet> sets_in_force(const PlanRequest& request) {
  if (request.rule_sets.empty()) throw InternalError("a plan request without rule sets");
  std::vector<RuleSet> sets;
  for (const auto& set : request.rule_sets)
    sets.push_back(active_rules(set, request.model.rules, request.rule_changes));
  return sets;
}

std::vector<std::string> all_axes(const std::vector<RuleSet>& sets) {
  std::vector<std::string> axes;
  for (const auto& set : sets)
    for (const auto& axis : set.mesh_axes)
      if (std::find(axes.begin(), axes.end(), axis) == axes.end()) axes.push_back(axis);
  return axes;
}

AskedAxes asked_axes(const PlanRequest& request, const std::vector<RuleSet>& sets) {
  const auto known = all_axes(sets);
  AskedAxes asked;
  for (const AskedSizes& sizes : request.mesh) {
    if (std::find(known.begin(), known.end(), sizes.name) == known.end())
      throw InputError("mesh: " + unknown_name("axis", sizes.name, known));
    asked.emplace(sizes.name, sizes);
  }
  return asked;
}

/// As MaxText edits it for more than one stage (rules/merge_rules.hpp); a set without the axis can't pipeline.
std::optional<RuleSet> edited_for_stages(const RuleSet& set) {
  const bool pipelines = has_axis(set.mesh_axes, AxisRole::stage) && has_axis(set.mesh_axes, AxisRole::data);
  return pipelines ? std::optional(pipelined(set)) : std::nullopt;
}

/// Named policies as remat_policies() has them; custom ones, of which each is its own, before them.
std::vector<RematPolicy> least_memory_first(std::vector<RematPolicy> policies) {
  const auto& order = remat_policies();
  const auto place = [&](const RematPolicy& policy) {
    const auto found = std::find(order.begin(), order.end(), policy.name);
    return found == order.end() ? -1 : found - order.begin();
  };
  std::stable_sort(policies.begin(), policies.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
  policies.erase(std::unique(policies.begin(), policies.end()), policies.end());
  return policies;
}

std::vector<RematPolicy> policies_of(const PlanRequest& request) {
  return request.remat_policies.empty() ? named_remat_policies({"full"}) : least_memory_first(request.remat_policies);
}

/// Where the profile has no bandwidth to the host, policies that offload activations would look free.
void leave_out_unpriced(SearchSpace& space) {
  if (space.base.hardware.host_link_bandwidth) return;
  auto& policies = space.remat_policies;
  const auto offloads = [](const RematPolicy& policy) { return policy.offloads(); };
  std::copy_if(policies.begin(), policies.end(), std::back_inserter(space.unpriced_policies), offloads);
  std::erase_if(policies, offloads);
}

std::vector<MoePath> paths_of(const PlanRequest& request) {
  if (!request.model.has_experts()) return {MoePath::none};
  if (request.moe_paths.empty()) return {MoePath::dropping, MoePath::ragged, MoePath::ring};
  return request.moe_paths;
}

/// "2048 or 3072"
std::string nearest_multiples(std::int64_t number, std::int64_t of) {
  const std::int64_t below = number / of * of;
  return below > 0 ? fmt::format("{} or {}", below, below + of) : fmt::format("{}", of);
}

void check_tokens(const SearchSpace& space) {
  const std::int64_t length = space.base.config.max_target_length;
  if (space.global_batch_tokens && (*space.global_batch_tokens < length || *space.global_batch_tokens % length != 0))
    throw InputError(fmt::format("--global-batch-tokens {}: not a whole number of sequences of {}; nearest: {}",
                                 *space.global_batch_tokens, counted(length, "token"),
                                 nearest_multiples(*space.global_batch_tokens, length)));
  const std::int64_t devices = space.base.devices();
  if (space.global_batch_tokens.value_or(0) / devices > most_tokens_a_device)
    throw InputError(fmt::format("--global-batch-tokens {}: more than {} a device", *space.global_batch_tokens,
                                 most_tokens_a_device));
  const std::int64_t passes = space.base.config.gradient_accumulation_steps;
  if (space.global_batch_tokens && space.accumulation_fixed && *space.global_batch_tokens % (passes * length) != 0)
    throw InputError(fmt::format("gradient_accumulation_steps={}: --global-batch-tokens {} are {}, which so many passes "
                                 "can't share; nearest: {} tokens",
                                 passes, *space.global_batch_tokens,
                                 counted(*space.global_batch_tokens / length, "sequence"),
                                 nearest_multiples(*space.global_batch_tokens, passes * length)));
  TrainConfig config = space.base.config;
  config.per_device_batch_size = space.per_device_batch.value_or(0);
  check_step_size(config);
}

const Compiler& compiler_of(const HardwareProfile& hardware, const PlanRequest& request) {
  const auto found = request.compilers.find(hardware.compiler);
  if (found == request.compilers.end())
    throw InternalError(fmt::format("a plan request without {}'s compiler {}", hardware.name, hardware.compiler));
  return found->second;
}

}  // namespace

SearchSpace search_space(const PlanRequest& request, Machine machine) {
  if (!request.model.not_modelled.empty())
    throw InputError(
        fmt::format("model {}: shardplan does not model {} yet", request.model.name, request.model.not_modelled));
  const Settings& settings = request.settings;
  SearchSpace space;
  Configuration& base = space.base;
  base.model = request.model;
  base.model_overrides = request.model_overrides;
  base.passed_arguments = request.passed_arguments;
  base.start_conditions = request.start_conditions;
  base.compiler = compiler_of(machine.hardware, request);
  base.hardware = std::move(machine.hardware);
  base.slice = std::move(machine.slice);
  base.num_slices = machine.num_slices;
  base.config = with_kernels(settings, base.compiler.kernels, base.model);
  base.memory_limits = request.memory_limits;
  base.rule_changes = request.rule_changes;
  space.rule_sets = sets_in_force(request);
  space.asked_axes = asked_axes(request, space.rule_sets);
  for (const RuleSet& set : space.rule_sets) space.pipelined_sets.push_back(edited_for_stages(set));
  space.moe_paths = paths_of(request);
  if (settings.says(&TrainConfig::moe_dispatch_no_expert_sharding))
    space.dispatch_peeled = base.config.moe_dispatch_no_expert_sharding;
  space.layers_per_stage_fixed = settings.says(&TrainConfig::num_layers_per_pipeline_stage);
  space.gathered_once_fixed = settings.says(&TrainConfig::pipeline_fsdp_ag_once);
  space.accumulation_fixed = settings.says(&TrainConfig::gradient_accumulation_steps);
  space.capacity_fixed = settings.says(&TrainConfig::capacity_factor);
  space.expert_tile_fixed = settings.says(&TrainConfig::wi_tile_fwd_mlp_dim);
  space.packing_fixed = settings.says(&TrainConfig::packing);
  space.optimizer_over_data_fixed = settings.says(&TrainConfig::shard_optimizer_over_data);
  if (!says_splash_blocks(settings)) space.attention_blocks = fastest_splash_blocks(base);
  space.remat_policies = policies_of(request);
  leave_out_unpriced(space);
  space.per_device_batch = request.per_device_batch;
  space.global_batch_tokens = request.global_batch_tokens;
  space.max_batch_tokens = request.max_batch_tokens;
  space.required.max_step = request.max_step;
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

std::size_t number_of_rules(std::size_t rules, const Mesh& mesh) {
  return rules * 2 + (pipeline_stages(mesh) > 1 ? 1 : 0);
}

std::shared_ptr<const Binder> binder_on(const SearchSpace& space, std::size_t rules, const Mesh& mesh) {
  return space.binders->binder_of(number_of_rules(rules, mesh), rules_on(space, rules, mesh), mesh);
}

SearchSpace without_pipelines(SearchSpace space) {
  space.pipelined_sets.assign(space.rule_sets.size(), std::nullopt);
  return space;
}

SearchSpace with_pipelines_only(SearchSpace space) {
  space.plain_meshes = false;
  return space;
}

void set_batch(TrainConfig& config, const BatchOption& batch) {
  config.per_device_batch_size = batch.per_device_batch_size;
  config.gradient_accumulation_steps = batch.gradient_accumulation_steps;
}

}  // namespace shardplan
