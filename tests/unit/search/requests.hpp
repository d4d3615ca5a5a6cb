#pragma once
// What the search tests share: requests on toy machines, and a cost function with round numbers.
#include <arguments/plan_arguments.hpp>
#include <cmath>
#include <functional>
#include <hardware/load_profile.hpp>
#include <models/load_model.hpp>
#include <hardware/machine_of_chips.hpp>
#include <planner/search/space/candidate.hpp>
#include <planner/search/plan_machine.hpp>
#include <rules/load_rules.hpp>
#include <string>
#include <type_traits>
#include <vector>

namespace shardplan {

/// An evaluator that shares nothing between candidates.
template <class Call>
  requires std::is_invocable_r_v<Evaluation, Call, const Configuration&>
Evaluator evaluator_of(const Call& call) {
  const auto cost = [call](const Configuration& c, PreparedMesh&) { return call(c); };
  return {call, cost, cost};
}

inline std::vector<RuleSet> rule_sets(const std::vector<std::string>& names) {
  std::vector<RuleSet> sets;
  for (const auto& name : names) sets.push_back(load_rules(name));
  return sets;
}

inline PlanRequest with_settings(PlanRequest request, const std::vector<std::string>& words) {
  return with_arguments(std::move(request), GivenArguments(words, std::nullopt));
}

inline PlanRequest request_for(const std::string& model, const std::string& machine, int chips) {
  PlanRequest request;
  request.model = load_model(model);
  request.machines = {load_profile(machine)};
  request.chips = chips;
  request.rule_sets = rule_sets({"default"});
  request.remat_policies = named_remat_policies({"full", "save_out_proj", "minimal", "minimal_with_context"});
  return with_settings(std::move(request), {});
}

inline SearchSpace space_of(const PlanRequest& request) {
  return search_space(request, machine_of(request.machines.front(), request.chips, request.slices));
}

inline constexpr std::int64_t gigabyte = 1'000'000'000;

/// Weights take 80 GB over all devices but those of axis data, a sequence and device 1 GB, and what each policy saves
/// as much again. A step takes 1 s, 0.1 s more for each doubling of tensor and 0.05 s of context, and 2 s a sequence,
/// less 0.1 s for each name saved; stages are idle (stages-1)/(microbatches·repeats) as long again.
inline Evaluation toy_evaluation(const Configuration& c) {
  Evaluation e;
  e.hardware = c.hardware.name;
  e.rules = c.rules.name;
  e.remat = c.config.remat_policy;
  e.moe_path = c.config.moe_path;
  e.mesh = c.mesh;
  e.config = c.config;
  e.devices = c.mesh.devices();
  e.chips = c.slice.chips * c.num_slices;
  const double saved = static_cast<double>(c.config.saved.size()), batch = c.config.per_device_batch_size;
  const std::int64_t shards = e.devices / c.mesh.size_of("data");
  e.memory.capacity = {static_cast<std::int64_t>(c.hardware.hbm_capacity.value)};
  e.memory.parameters = {80 * gigabyte * size_of(c.config.mu_dtype) / 4 / shards};
  e.memory.activations = {static_cast<std::int64_t>(batch * (1 + saved) * gigabyte)};
  e.time.compute = {batch * (2 - saved / 10)};
  if (const int stages = c.mesh.size_of("stage"); stages > 1)
    e.time.bubble =
        e.time.compute * (static_cast<double>(stages - 1) /
                          static_cast<double>(c.config.num_pipeline_microbatches * c.config.num_pipeline_repeats));
  const int tensor = c.mesh.size_of("tensor") * c.mesh.size_of("tensor_sequence");
  e.time.exposed_collective = {1 + 0.1 * std::log2(tensor) + 0.05 * std::log2(c.mesh.size_of("context"))};
  e.time.tokens_per_second_per_device = batch * static_cast<double>(c.config.max_target_length) / e.time.step().value;
  e.memory.low = e.memory.high = e.memory.peak();
  if (e.memory.peak() > e.memory.capacity)
    e.infeasible = Infeasible{ConstraintId::hbm, "too large", e.memory.peak().value, e.memory.capacity.value};
  return e;
}

using StandIn = std::function<Evaluation(const Configuration&)>;

inline MachinePlan plan_one(const PlanRequest& request, const StandIn& evaluation = toy_evaluation,
                            const TellProgress& tell = {}) {
  return plan_with(request, evaluator_of(evaluation), tell).machines.front();
}

/// By the cost model.
inline MachinePlan costed(const PlanRequest& request) { return plan(request).machines.front(); }

}  // namespace shardplan
