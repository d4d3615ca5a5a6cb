#include <fmt/format.h>

#include <algorithm>
#include <planner/search/plan_machine.hpp>
#include <planner/search/split_axes.hpp>

namespace shardplan {
namespace {

constexpr double worth_a_search = 0.2;    // of the step, that waits for collectives
constexpr double worth_a_setting = 0.05;  // more tokens a second

bool is_open(const PlanRequest& request) {
  return !request.settings.says(&TrainConfig::allow_split_physical_axes) &&
         request.settings.config.custom_mesh == CustomMesh::none;
}

/// With axes that may be split, of what is recommended in all but mesh and batch: all that there is would take
/// twenty times as long as the search that it is for.
PlanRequest like(const Evaluation& best, PlanRequest request) {
  request.settings.set(&TrainConfig::allow_split_physical_axes, true);
  std::erase_if(request.rule_sets, [&](const RuleSet& set) { return set.name != best.rules; });
  std::erase_if(request.remat_policies, [&](const RematPolicy& policy) { return policy.name != best.remat; });
  if (!request.moe_paths.empty()) request.moe_paths = {best.moe_path};
  const bool may_pipeline = std::any_of(request.rule_sets.begin(), request.rule_sets.end(), [](const RuleSet& set) {
    return has_axis(set.mesh_axes, AxisRole::stage);
  });
  if (request.mesh.empty() && may_pipeline) request.mesh = {{std::string(name_of(AxisRole::stage)), 1, 1}};
  request.beside = Beside::nothing;
  return request;
}

}  // namespace

std::string what_split_axes_make(const PlanRequest& request, const HardwareProfile& profile, const Evaluation& best,
                                 const Rejections& rejections, const Evaluator& evaluate, const SearchBudget& budget) {
  const bool waits = best.time.exposed_collective > best.time.with_routing() * worth_a_search;
  if (!waits || !is_open(request) || !rejections.has(ConstraintId::mesh_does_not_fit_torus)) return "";
  const MachinePlan plan = plan_machine(like(best, request), profile, evaluate, budget);
  if (!plan.recommended) return "";
  const Evaluation& other = *plan.recommended;
  const double faster = other.tokens_per_second_with_routing() / best.tokens_per_second_with_routing() - 1;
  if (faster < worth_a_setting) return "";
  return fmt::format("allow_split_physical_axes=true would make at least {:.1f}% more tokens a second, with {}, which the "
                     "dims of {} don't hold whole: JAX places it only when told so",
                     100 * faster, describe(other.mesh), best.configuration->slice.name);
}

}  // namespace shardplan
