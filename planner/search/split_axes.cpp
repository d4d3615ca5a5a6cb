#include <fmt/format.h>

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

}  // namespace

std::string what_split_axes_make(const PlanRequest& request, const HardwareProfile& profile, const Evaluation& best,
                                 const Rejections& rejections, const Evaluator& evaluate, const SearchBudget& budget) {
  const bool waits = best.time.exposed_collective > best.time.with_routing() * worth_a_search;
  if (!waits || !is_open(request) || !rejections.has(ConstraintId::mesh_does_not_fit_torus)) return "";
  PlanRequest split = request;
  split.settings.set(&TrainConfig::allow_split_physical_axes, true);
  split.beside = Beside::nothing;
  const MachinePlan plan = plan_machine(split, profile, evaluate, budget);
  if (!plan.recommended) return "";
  const Evaluation& other = *plan.recommended;
  const double faster = other.tokens_per_second_with_routing() / best.tokens_per_second_with_routing() - 1;
  if (faster < worth_a_setting) return "";
  return fmt::format("allow_split_physical_axes=true would make {:.1f}% more tokens a second with {}, which the dims of {} "
                     "don't hold whole: JAX places it only when told so",
                     100 * faster, describe(other.mesh), best.configuration->slice.name);
}

}  // namespace shardplan
