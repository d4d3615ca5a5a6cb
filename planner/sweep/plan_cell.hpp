#pragma once
// The best plan of one cell as a row.
#include <planner/search/space/candidate.hpp>
#include <planner/sweep/grid.hpp>

namespace shardplan {

/// A cell that can't be planned is a row with its reason. `place` is the cell's in the grid.
SweepRow plan_cell(const GridCell& cell, std::size_t place, const SweepGoal& goal, const Evaluator& evaluate);

/// What limits the plan of `request` (Limit has the meaning of each).
Limit limit_of(const Evaluation& plan, const PlanRequest& request);

/// tokens / tokens a second; × chips; × price; × power.
std::optional<Budget> budget_of(const CellPlan& plan, int chips, const HardwareProfile& machine, const SweepGoal& goal);

}  // namespace shardplan
