#include <algorithm>
#include <mutex>
#include <planner/evaluate/evaluate.hpp>
#include <planner/search/comparison.hpp>
#include <planner/search/plan_machine.hpp>
#include <shardplan/error.hpp>
#include <shardplan/parallel_for.hpp>
#include <tuple>

namespace shardplan {
namespace {

/// Plans of the request's machines, in their order.
void price(std::vector<MachinePlan>& plans, const PlanRequest& request) {
  for (std::size_t i = 0; i < plans.size(); ++i)
    if (plans[i].recommended)
      plans[i].dollars_per_million_tokens = dollars_per_million_tokens(*plans[i].recommended, request.machines[i]);
}

/// What the objective makes of a machine's plan; less is better.
double badness(const MachinePlan& plan, const PlanRequest& request) {
  const Evaluation& best = *plan.recommended;
  switch (request.objective) {
    case Objective::throughput:
      return -best.tokens_per_second_with_routing();
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

/// Machines one after the other, each with its share of the time that is left.
std::vector<MachinePlan> plans_within_limits(const PlanRequest& request, const Evaluator& evaluate,
                                             const TellProgress& tell) {
  std::vector<MachinePlan> plans;
  const auto begun = SearchBudget::Clock::now();
  for (const auto& profile : request.machines) {
    SearchBudget budget(request.limits, begun, request.machines.size() - plans.size() - 1);
    budget.tell_of(profile.name, tell);
    plans.push_back(plan_machine(request, profile, evaluate, budget));
  }
  return plans;
}

/// Machines beside each other.
std::vector<MachinePlan> plans_beside_each_other(const PlanRequest& request, const Evaluator& evaluate,
                                                 const TellProgress& tell) {
  std::vector<MachinePlan> plans(request.machines.size());
  parallel_for(plans.size(), [&](std::size_t i) {
    SearchBudget budget;
    budget.tell_of(request.machines[i].name, tell);
    plans[i] = plan_machine(request, request.machines[i], evaluate, budget);
  });
  return plans;
}

/// What is shown beside a plan is searched of the best machine alone, once it is known to be that.
std::vector<MachinePlan> plans_at_once(const PlanRequest& request, const Evaluator& evaluate, const TellProgress& tell) {
  if (request.machines.size() == 1 || request.beside != Beside::alternatives)
    return plans_beside_each_other(request, evaluate, tell);
  PlanRequest rows = request;
  rows.beside = Beside::would_fit;
  std::vector<MachinePlan> plans = plans_beside_each_other(rows, evaluate, tell);
  price(plans, request);
  const auto best = std::min_element(plans.begin(), plans.end(), [&](const MachinePlan& a, const MachinePlan& b) {
    return rank(a, request) < rank(b, request);
  });
  if (!best->recommended) return plans;
  SearchBudget budget;
  budget.tell_of(best->hardware, tell);
  *best = plan_machine(request, request.machines[static_cast<std::size_t>(best - plans.begin())], evaluate, budget);
  return plans;
}

}  // namespace

PlanAnswer plan_with(const PlanRequest& request, const Evaluator& evaluate, const TellProgress& tell) {
  const bool limited = request.limits.time || request.limits.memory;
  std::mutex telling;
  TellProgress one_at_a_time;
  if (tell)
    one_at_a_time = [&](const SearchProgress& progress) {
      const std::unique_lock lock(telling, std::try_to_lock);  // who would have to wait tells nothing
      if (lock) tell(progress);
    };
  const auto plans_of = limited ? plans_within_limits : plans_at_once;
  std::vector<MachinePlan> plans = plans_of(request, evaluate, one_at_a_time);
  price(plans, request);
  using Ranked = std::pair<std::tuple<int, double>, MachinePlan*>;
  std::vector<Ranked> ranked;
  for (MachinePlan& plan : plans) ranked.emplace_back(rank(plan, request), &plan);
  std::stable_sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) { return a.first < b.first; });
  PlanAnswer answer{request.model.name, request.chips, request.objective, {}};
  for (auto& [place, plan] : ranked) answer.machines.push_back(std::move(*plan));
  return answer;
}

PlanAnswer plan(const PlanRequest& request, const TellProgress& tell) {
  return plan_with(request, cost_model(), tell);
}

}  // namespace shardplan
