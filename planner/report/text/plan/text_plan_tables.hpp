#pragma once
// The tables of `plan`: the machines, the best of each kind of parallelism, the alternatives.
#include <planner/report/style.hpp>
#include <shardplan/plan.hpp>
#include <string>

namespace shardplan {

/// One row a machine, in the order of the objective; where nothing fits, why and what would.
std::string machines_text(const PlanAnswer& answer, const Style& style);

/// Empty where there is one kind only.
std::string strategies_text(const MachinePlan& machine, const Style& style);

/// Empty without alternatives.
std::string alternatives_text(const MachinePlan& machine, const Style& style);

}  // namespace shardplan
