#pragma once
// The flags that `plan` and `sweep` share: what holds for every configuration that is tried.
#include <planner/cli/parse_words.hpp>
#include <planner/cli/plan_request.hpp>

namespace shardplan {

/// All of PlanFlags but model, chips, machines, objective, price and what only `plan` shows.
void add_shared_plan_flags(CommandParser& parser, PlanFlags& flags);

}  // namespace shardplan
