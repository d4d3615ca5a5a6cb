#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <planner/search/explore/incumbents.hpp>
#include <planner/search/other_requests.hpp>
#include <planner/search/plan_machine.hpp>
#include <shardplan/collective/counted.hpp>

namespace shardplan {
namespace {

constexpr double worth_a_search = 0.2;    // of the step, that waits for collectives
constexpr double worth_a_setting = 0.05;  // more tokens a second

/// What is recommended for another request, and by what share it makes more tokens a second.
struct Other {
  Evaluation run;
  double faster;
};

/// Empty where nothing fits, or it is faster by less than that.
std::optional<Other> faster_plan(PlanRequest request, double least, const HardwareProfile& profile, const Evaluation& than,
                                 const Evaluator& evaluate, const SearchBudget& budget) {
  request.beside = Beside::nothing;
  MachinePlan plan = plan_machine(request, profile, evaluate, budget);
  if (!plan.recommended) return std::nullopt;
  const double faster =
      plan.recommended->tokens_per_second_with_routing() / than.tokens_per_second_with_routing() - 1;
  return faster > least ? std::optional(Other{*std::move(plan.recommended), faster}) : std::nullopt;
}

bool may_split_axes(const PlanRequest& request) {
  return !request.settings.says(&TrainConfig::allow_split_physical_axes) &&
         request.settings.config.custom_mesh == CustomMesh::none;
}

/// With axes that may be split, of what is recommended in all but mesh and batch: all that there is would take twenty times
/// as long as the search that it is for.
PlanRequest with_split_axes(const Evaluation& best, PlanRequest request) {
  request.settings.set(&TrainConfig::allow_split_physical_axes, true);
  std::erase_if(request.rule_sets, [&](const RuleSet& set) { return set.name != best.rules; });
  std::erase_if(request.remat_policies, [&](const RematPolicy& policy) { return policy.name != best.remat; });
  if (!request.moe_paths.empty()) request.moe_paths = {best.moe_path};
  const bool may_pipeline = std::any_of(request.rule_sets.begin(), request.rule_sets.end(), [](const RuleSet& set) {
    return has_axis(set.mesh_axes, AxisRole::stage);
  });
  if (request.mesh.empty() && may_pipeline) request.mesh = {{std::string(name_of(AxisRole::stage)), 1, 1}};
  return request;
}

}  // namespace

std::string what_fewer_chips_make(const PlanRequest& request, const HardwareProfile& profile, const Evaluation& best,
                                  const Evaluator& evaluate, const SearchBudget& budget) {
  const auto chips = static_cast<unsigned>(request.chips);
  if (request.slices || !request.mesh.empty() || chips < 2 || std::has_single_bit(chips)) return "";
  PlanRequest fewer = request;
  fewer.chips = static_cast<int>(std::bit_floor(chips));
  const auto other = faster_plan(fewer, indistinguishable, profile, best, evaluate, budget);
  if (!other) return "";
  return fmt::format(
      "--chips {} would make {:.1f}% more tokens a second with {}: the best that {} take is {}, with {} a step",
      fewer.chips, 100 * other->faster, describe(other->run.mesh),
      counted(best.devices, "device"), describe(best.mesh), counted(best.global_batch_tokens, "token"));
}

std::string what_split_axes_make(const PlanRequest& request, const HardwareProfile& profile, const Evaluation& best,
                                 const Rejections& rejections, const Evaluator& evaluate, const SearchBudget& budget) {
  const bool waits = best.time.exposed_collective > best.time.with_routing() * worth_a_search;
  if (!waits || !may_split_axes(request) || !rejections.has(ConstraintId::mesh_does_not_fit_torus)) return "";
  const auto other =
      faster_plan(with_split_axes(best, request), worth_a_setting, profile, best, evaluate, budget);
  if (!other) return "";
  return fmt::format("allow_split_physical_axes=true would make at least {:.1f}% more tokens a second, with {}, which the "
                     "dims of {} don't hold whole: JAX places it only when told so",
                     100 * other->faster, describe(other->run.mesh), best.configuration->slice.name);
}

}  // namespace shardplan
