#pragma once
// The flags that say what is searched, shared by plan and compare.
#include <planner/cli/parse_words.hpp>
#include <planner/cli/plan_request.hpp>

namespace shardplan {

/// All of PlanFlags but --mesh, --top and KEY=VALUE; `machines` is what --hardware takes.
void add_search_flags(CommandParser& parser, PlanFlags& flags, const std::string& machines,
                      const std::string& machines_help);

}  // namespace shardplan
