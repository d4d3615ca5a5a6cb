#pragma once
// `plan` on a terminal: one row a machine, then the best in full. Fits a screen.
#include <shardplan/plan.hpp>
#include <planner/report/style.hpp>
#include <string>

namespace shardplan {

std::string plan_text(const PlanAnswer& answer, const Style& style);

}  // namespace shardplan
