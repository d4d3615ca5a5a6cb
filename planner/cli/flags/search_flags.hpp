#pragma once
// The flags that say what is searched, shared by plan, compare and sweep.
#include <planner/cli/parse_words.hpp>
#include <planner/cli/plan_request.hpp>

namespace shardplan {

/// What holds for every configuration that is tried, on any machine: batch, rules, paths, policies, limits, XLA's flags.
void add_space_flags(CommandParser& parser, PlanFlags& flags);

/// Model, chips and machines, the space, objective and prices.
void add_search_flags(CommandParser& parser, PlanFlags& flags);

/// --mesh and KEY=VALUE of a search.
void add_mesh_and_settings(CommandParser& parser, PlanFlags& flags);

}  // namespace shardplan
