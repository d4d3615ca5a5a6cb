#include <algorithm>
#include <limits>
#include <planner/evaluate/evaluate.hpp>
#include <planner/search/plan_machine.hpp>
#include <shardplan/error.hpp>
#include <tuple>

namespace shardplan {
namespace {

std::optional<double> dollars_per_million_tokens(const MachinePlan& plan, const HardwareProfile& profile) {
  if (!plan.recommended || !profile.price_per_chip_hour) return std::nullopt;
  const double dollars_a_second = profile.price_per_chip_hour->value * plan.recommended->chips / 3600;
  return dollars_a_second / plan.recommended->tokens_per_second() * 1e6;
}

/// What the objective makes of a machine's plan; less is better.
double badness(const MachinePlan& plan, const PlanRequest& request) {
  const Evaluation& best = *plan.recommended;
  switch (request.objective) {
    case Objective::throughput:
      return -best.tokens_per_second();
    case Objective::memory:
      return static_cast<double>(best.memory.peak().value);
    case Objective::cost:
      return *plan.dollars_per_million_tokens;
  }
  throw InternalError("unknown Objective");
}

/// Plans that fit, then those that name what would, then machines without a plan; in the order of the request
/// otherwise.
std::tuple<int, double> rank(const MachinePlan& plan, const PlanRequest& request) {
  if (plan.recommended) return {0, badness(plan, request)};
  return {plan.refused.empty() ? 1 : 2, 0};
}

}  // namespace

PlanAnswer plan_with(const PlanRequest& request, const Evaluator& evaluate, const TellProgress& tell) {
  using Ranked = std::pair<std::tuple<int, double>, MachinePlan>;
  std::vector<Ranked> ranked;
  const auto begun = SearchBudget::Clock::now();
  for (const auto& profile : request.machines) {
    SearchBudget budget(request.limits, begun, request.machines.size() - ranked.size() - 1);
    budget.tell_of(profile.name, tell);
    MachinePlan plan = plan_machine(request, profile, evaluate, budget);
    plan.dollars_per_million_tokens = dollars_per_million_tokens(plan, profile);
    const auto place = rank(plan, request);
    ranked.emplace_back(place, std::move(plan));
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) { return a.first < b.first; });
  PlanAnswer answer{request.model.name, request.chips, request.objective, {}};
  for (auto& [place, plan] : ranked) answer.machines.push_back(std::move(plan));
  return answer;
}

PlanAnswer plan(const PlanRequest& request, const TellProgress& tell) {
  return plan_with(request, cost_model(), tell);
}

}  // namespace shardplan
