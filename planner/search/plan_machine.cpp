#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <hardware/machine_of_chips.hpp>
#include <planner/evaluate/step_range.hpp>
#include <planner/fixes/weigh_findings.hpp>
#include <planner/fixes/weigh_flags.hpp>
#include <planner/search/comparison.hpp>
#include <planner/search/explore/explore.hpp>
#include <planner/search/finer_batches.hpp>
#include <planner/search/other_requests.hpp>
#include <planner/search/plan_machine.hpp>
#include <planner/search/present.hpp>
#include <planner/search/reasons.hpp>
#include <planner/search/select.hpp>
#include <planner/search/would_fit.hpp>
#include <planner/what_if/what_if.hpp>
#include <shardplan/collective/counted.hpp>
#include <shardplan/error.hpp>
#include <shardplan/rounding.hpp>
#include <shardplan/step_counts.hpp>
#include <variant>

namespace shardplan {
namespace {

using Clock = std::chrono::steady_clock;
using Refusal = std::string;

std::variant<Machine, Refusal> usable_machine(const PlanRequest& request, const HardwareProfile& profile) try {
  require_price(request, profile);
  check_memory_limits(request.memory_limits, profile);
  return machine_of(profile, request.chips, request.slices);
} catch (const InputError& error) {
  return Refusal(error.what());
}

/// Sizes that no mesh of so many devices has; empty when they are not what is wrong.
Refusal indivisible_sizes(const std::vector<AskedSizes>& mesh, std::int64_t devices) {
  std::int64_t product = 1;
  bool exact = true;
  for (const AskedSizes& asked : mesh) {
    const auto sizes = divisors_of(devices);
    if (std::none_of(sizes.begin(), sizes.end(), [&](std::int64_t size) { return asked.has(static_cast<int>(size)); }))
      return fmt::format("--mesh {} doesn't divide the {}; it may be {}", describe({asked}), counted(devices, "device"),
                         fmt::join(sizes, ", "));
    product *= asked.least;
    exact = exact && asked.least == asked.most;
  }
  if (exact ? devices % product == 0 : product <= devices) return "";
  return fmt::format("--mesh {}: the {} multiply to {}, {} {}", describe(mesh), exact ? "sizes" : "smallest sizes", product,
                     exact ? "which doesn't divide the" : "more than the", counted(devices, "device"));
}

Refusal why_no_mesh(const SearchSpace& space, const PlanRequest& request) {
  const std::int64_t devices = space.base.devices();
  if (request.mesh.empty())
    return fmt::format("no rule set searched has a mesh of {} whose axes divide the dims that they split",
                       counted(devices, "device"));
  if (Refusal sizes = indivisible_sizes(request.mesh, devices); !sizes.empty()) return sizes;
  return fmt::format("--mesh {}: no rule set searched completes it to {} ({} of {})", describe(request.mesh),
                     counted(devices, "device"), counted(space.base.num_slices, "slice"), space.base.slice.name);
}

/// What no configuration of the request can be on this machine; empty: nothing.
Refusal contradiction(const SearchSpace& space) {
  if (!space.per_device_batch) return "";
  TrainConfig config;
  config.per_device_batch_size = *space.per_device_batch;
  const std::int64_t devices = space.base.devices();
  const double batch = sequences_in_a_pass(config, devices);
  if (batch >= 1 && batch == std::floor(batch)) return "";
  return fmt::format("--per-device-batch {} on {} is {}, not a whole number above 0", *space.per_device_batch,
                     counted(devices, "device"), counted(batch, "sequence"));
}

/// Why meshes were rejected. Where none is left although the torus's dims were split, that is why: advice to split them
/// would not help.
Rejections reasons_to_reject(const Parallelisms& found, SearchSpace space) {
  if (!found.list.empty() || !found.rejections.has(ConstraintId::mesh_does_not_fit_torus)) return found.rejections;
  space.base.config.allow_split_physical_axes = true;
  space.base.config.custom_mesh = CustomMesh::none;
  const Parallelisms split = enumerate_parallelisms(space);
  return split.list.empty() ? split.rejections : found.rejections;
}

/// Who trades more time than that for memory wants fewer chips.
constexpr double front_margin = 0.5;

Scope scope_of(const PlanRequest& request) {
  const double margin = request.objective == Objective::memory ? memory_objective_margin : 0;
  if (request.beside < Beside::alternatives) return {1, margin};
  const std::size_t keep = static_cast<std::size_t>(request.top) + 1;
  return {keep, margin, request.beside == Beside::front ? front_margin : 0, true, true, true};
}

std::vector<std::pair<Strategy, Evaluation>> best_of_each(const Presenter& presenter,
                                                          const std::vector<Parallelism>& parallelisms,
                                                          const Explored& explored, Objective objective) {
  std::vector<std::pair<Strategy, Evaluation>> best;
  for (const Strategy strategy : strategies)
    if (const auto candidate = best_of(strategy, explored.fitting, parallelisms, objective))
      best.emplace_back(strategy, presenter.show(*candidate));
  return best;
}

/// Who would risk a start that fails for less?
constexpr double worth_a_risk = 0.01;

bool is_worth_a_risk(const Candidate& candidate, const Candidate& than) {
  return candidate.cost.seconds_per_token * (1 + worth_a_risk) < than.cost.seconds_per_token;
}

/// As the run is told when it is explained alone.
void weigh(Evaluation& shown) {
  shown.findings = weigh_findings(*shown.configuration, shown).findings;
  shown.flag_worths = weigh_flags(*shown.configuration, shown);
  shown.assumed = assumed_steps(*shown.configuration, shown);
}

void weigh(std::vector<WouldFit>& changes) {
  for (WouldFit& change : changes)
    if (change.evaluation) weigh(*change.evaluation);
}

MachinePlan plan_that_fits(const PlanRequest& request, const SearchSpace& space,
                           const std::vector<Parallelism>& parallelisms, const Explored& explored,
                           const Evaluator& evaluate) {
  const Selection selection = select(explored.fitting, parallelisms, request.objective, request.top);
  const Presenter presenter(space, parallelisms, evaluate);
  MachinePlan plan;
  plan.recommended = presenter.show(selection.recommended);
  if (request.beside < Beside::alternatives) return plan;
  weigh(*plan.recommended);
  plan.alternatives = presenter.show(selection.alternatives);
  const bool whole = request.beside == Beside::front;
  for (Evaluation& shown : plan.alternatives) {
    if (whole)
      weigh(shown);
    else
      shown.assumed = assumed_steps(*shown.configuration, shown);
  }
  if (explored.marginal && is_worth_a_risk(*explored.marginal, selection.recommended))
    plan.marginal = presenter.show(*explored.marginal);
  if (whole) {
    if (plan.marginal) weigh(*plan.marginal);
    plan.pareto = presenter.show(explored.front.candidates());
  }
  plan.strategies =
      compare_strategies(*plan.recommended, best_of_each(presenter, parallelisms, explored, request.objective));
  plan.change_of_training = change_of_training(*plan.recommended, request.model);
  plan.what_ifs = what_ifs_of(*plan.recommended->configuration, *plan.recommended);
  plan.reasons = reasons_for(plan, space, parallelisms, explored);
  return plan;
}

/// Where constraints rejected everything no change of size helps, but of a step whose tokens can't be shared out, or that
/// takes longer than is asked for.
MachinePlan with_other_limits(MachinePlan plan, const PlanRequest& request, const SearchSpace& space,
                              const HardwareProfile& profile, const Explored& explored, const Evaluator& evaluate,
                              const SearchBudget& budget) {
  if (request.beside == Beside::nothing) return plan;
  const auto least = explored.rejections.least_step(request.max_step);
  WouldFits tried = least ? what_step_would_fit(request, profile, *least, evaluate, budget)
                          : what_batch_would_fit(request, profile, space.base.devices(),
                                                 space.base.config.max_target_length, evaluate, budget);
  plan.would_fit = std::move(tried.found);
  plan.evaluated = tried.evaluated;
  weigh(plan.would_fit);
  return plan;
}

MachinePlan plan_that_does_not(const PlanRequest& request, const SearchSpace& space, const HardwareProfile& profile,
                               const std::vector<Parallelism>& parallelisms, const Explored& explored,
                               const Evaluator& evaluate, const SearchBudget& budget) {
  MachinePlan plan;
  if (!explored.smallest) return with_other_limits(std::move(plan), request, space, profile, explored, evaluate, budget);
  plan.closest = Presenter(space, parallelisms, evaluate).show(*explored.smallest);
  if (!plan.closest->infeasible) plan.kept_free = keeps_too_little_free(plan.closest->memory);
  if (request.beside == Beside::nothing) return plan;
  if (!plan.closest->findings.empty() && request.beside >= Beside::alternatives)
    plan.closest->findings = weigh_findings(*plan.closest->configuration, *plan.closest).findings;
  WouldFits tried = what_would_fit(request, profile, *plan.closest, explored.rejections, evaluate, budget);
  plan.would_fit = std::move(tried.found);
  plan.evaluated = tried.evaluated;
  weigh(plan.would_fit);
  return plan;
}

MachinePlan plan_on(const PlanRequest& request, const HardwareProfile& profile, Machine machine,
                    const Evaluator& evaluate, const SearchBudget& budget) {
  SearchSpace space = search_space(request, std::move(machine));
  MachinePlan plan;
  plan.refused = contradiction(space);
  if (!plan.refused.empty()) return plan;
  Parallelisms found = enumerate_parallelisms(space);
  std::vector<Parallelism>& parallelisms = found.list;
  if (found.meshes == 0) {
    plan.refused = why_no_mesh(space, request);
    return plan;
  }
  plan.refused = found.refused;
  if (!plan.refused.empty()) return plan;
  const Scope scope = scope_of(request);
  Explored explored = explore_what_may_fit(space, parallelisms, scope, evaluate, budget);
  try_finer_batches(space, parallelisms, explored, scope, evaluate, budget);
  plan = explored.fitting.empty() ? plan_that_does_not(request, space, profile, parallelisms, explored, evaluate, budget)
                                  : plan_that_fits(request, space, parallelisms, explored, evaluate);
  if (plan.recommended && request.beside >= Beside::alternatives) {
    const Evaluation& best = *plan.recommended;
    for (std::string other : {what_split_axes_make(request, profile, best, found.rejections, evaluate, budget),
                              what_fewer_chips_make(request, profile, best, evaluate, budget)})
      if (!other.empty()) plan.reasons.insert(plan.reasons.begin() + 1, std::move(other));  // behind where the time goes
  }
  explored.rejections.add(reasons_to_reject(found, space));
  plan.rejections = explored.fitting.empty() ? explored.rejections.nearest_first(space.moe_paths.size() == 1)
                                             : explored.rejections.sorted();
  plan.evaluated += explored.evaluated;
  plan.fitting = explored.known_to_fit;
  if (explored.left > 0)
    plan.unfinished = {budget.is_for_memory(), explored.left, static_cast<std::int64_t>(parallelisms.size())};
  return plan;
}

}  // namespace

MachinePlan plan_machine(const PlanRequest& request, const HardwareProfile& profile, const Evaluator& evaluate,
                         const SearchBudget& budget) {
  const auto start = Clock::now();
  auto machine = usable_machine(request, profile);
  MachinePlan plan;
  if (const auto* refusal = std::get_if<Refusal>(&machine))
    plan.refused = *refusal;
  else
    plan = plan_on(request, profile, std::get<Machine>(std::move(machine)), evaluate, budget);
  plan.hardware = profile.name;
  plan.search_seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return plan;
}

}  // namespace shardplan
