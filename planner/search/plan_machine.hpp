#pragma once
// The plan of one machine: enumerate, explore, select, explain.
#include <shardplan/plan.hpp>
#include <planner/search/explore/search_budget.hpp>
#include <planner/search/space/candidate.hpp>

namespace shardplan {

/// A machine that can't be planned (no slice of that size, no mesh, no price) is MachinePlan::refused. Throws
/// InputError on what is wrong with the request on every machine.
MachinePlan plan_machine(const PlanRequest& request, const HardwareProfile& profile, const Evaluator& evaluate,
                         const SearchBudget& budget = {});

/// plan() with another way to cost candidates.
PlanAnswer plan_with(const PlanRequest& request, const Evaluator& evaluate, const TellProgress& tell = {});

}  // namespace shardplan
