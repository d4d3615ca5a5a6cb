#pragma once
// `plan` on a terminal: one row a machine, then the best in full. Fits a screen.
#include <shardplan/plan.hpp>
#include <planner/report/style.hpp>
#include <string>

namespace shardplan {

/// What is printed only where it is asked for.
struct PlanParts {
  bool commands = false;  ///< what starts each alternative
  bool what_if = false;   ///< what single changes of the best are worth
};

std::string plan_text(const PlanAnswer& answer, const Style& style, const PlanParts& parts = {});

}  // namespace shardplan
