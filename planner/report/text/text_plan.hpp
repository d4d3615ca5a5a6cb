#pragma once
// `plan` on a terminal: one row a machine, then the best in full. Fits a screen.
#include <shardplan/plan.hpp>
#include <planner/report/style.hpp>
#include <string>

namespace shardplan {

/// `with_commands`: also what starts each alternative.
std::string plan_text(const PlanAnswer& answer, const Style& style, bool with_commands = false);

}  // namespace shardplan
