#pragma once
// The flags that say what is searched, shared by plan and compare.
#include <planner/cli/parse_words.hpp>
#include <planner/cli/plan_request.hpp>

namespace shardplan {

/// All of PlanFlags but --mesh, --top and KEY=VALUE.
void add_search_flags(CommandParser& parser, PlanFlags& flags);

}  // namespace shardplan
