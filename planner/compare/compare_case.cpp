#include <fmt/format.h>

#include <algorithm>
#include <hardware/machine_of_chips.hpp>
#include <planner/compare/compare_case.hpp>
#include <planner/search/explore/explore.hpp>
#include <planner/search/finer_batches.hpp>
#include <planner/search/present.hpp>
#include <planner/search/select.hpp>
#include <shardplan/collective/counted.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

/// An axis that is asked for and that the rules are not written for; size 1 is no split.
std::string missing_axis(const PlanRequest& request) {
  const auto& axes = request.rule_sets.front().mesh_axes;
  for (const AskedSizes& asked : request.mesh)
    if (!asked.has(1) && std::find(axes.begin(), axes.end(), asked.name) == axes.end())
      return fmt::format("rule set {} has no mesh axis '{}'", request.rule_sets.front().name, asked.name);
  return "";
}

/// The axes asked for that the rules have: size 1 of one that they haven't says nothing.
PlanRequest with_axes_of_rules(PlanRequest request) {
  const auto& axes = request.rule_sets.front().mesh_axes;
  std::erase_if(request.mesh, [&](const AskedSizes& asked) {
    return std::find(axes.begin(), axes.end(), asked.name) == axes.end();
  });
  return request;
}

/// Among several machines one without a slice of that size, or a price where that ranks, is left out.
std::variant<Machine, std::string> usable_machine(const PlanRequest& request) try {
  require_price(request, request.machines.front());
  return machine_of(request.machines.front(), request.chips, request.slices);
} catch (const InputError& error) {
  return error.what();
}

std::string no_mesh(const PlanRequest& request, const SearchSpace& space) {
  const std::int64_t devices = space.base.devices();
  if (request.mesh.empty()) return fmt::format("no mesh of {}", counted(devices, "device"));
  return fmt::format("no mesh of {} with {}", counted(devices, "device"), describe(request.mesh));
}

Refusal why_none(const Rejections& rejections, bool one_path) {
  const auto counts = rejections.nearest_first(one_path);
  if (counts.empty()) return {"no valid configuration", true};
  return {fmt::format("{}: {}", name_of(counts.front().constraint), counts.front().example), true};
}

std::vector<Candidate> best_fitting(const Explored& explored, const std::vector<Parallelism>& parallelisms,
                                    Objective objective, int top) {
  const Selection selection = select(explored.fitting, parallelisms, objective, top - 1);
  std::vector<Candidate> best = {selection.recommended};
  best.insert(best.end(), selection.alternatives.begin(), selection.alternatives.end());
  return best;
}

}  // namespace

BestOrRefusal best_of_case(const PlanRequest& asked, int top, const Evaluator& evaluate) {
  if (std::string missing = missing_axis(asked); !missing.empty()) return Refusal{std::move(missing)};
  const PlanRequest request = with_axes_of_rules(asked);
  auto machine = usable_machine(request);
  if (const auto* reason = std::get_if<std::string>(&machine)) return Refusal{*reason};
  SearchSpace space = search_space(request, std::get<Machine>(std::move(machine)));
  auto [parallelisms, rejections, meshes, refused] = enumerate_parallelisms(space);
  if (meshes == 0) return Refusal{no_mesh(request, space)};
  if (!refused.empty()) return Refusal{std::move(refused)};
  if (parallelisms.empty()) return why_none(rejections, space.moe_paths.size() == 1);
  const double margin = request.objective == Objective::memory ? memory_objective_margin : 0;
  const Scope scope{static_cast<std::size_t>(top), margin, 0, false};
  Explored explored = explore_what_may_fit(space, parallelisms, scope, evaluate);
  try_finer_batches(space, parallelisms, explored, scope, evaluate);
  const Presenter presenter(space, parallelisms, evaluate);
  if (!explored.fitting.empty())
    return presenter.show(best_fitting(explored, parallelisms, request.objective, top));
  if (explored.smallest) return std::vector{presenter.show(*explored.smallest)};
  explored.rejections.add(rejections);
  return why_none(explored.rejections, space.moe_paths.size() == 1);
}

}  // namespace shardplan
