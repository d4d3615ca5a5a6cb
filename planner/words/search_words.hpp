#pragma once
// How far a search came, and what would make its plan fit, in words.
#include <shardplan/plan.hpp>
#include <string>

namespace shardplan {

/// "stopped at --time-limit: 1,203 of 14,473 shardings were not costed to the end"
std::string in_words(const Unfinished& unfinished);

/// "h100: 1,203 of 14,473 shardings bounded"
std::string in_words(const SearchProgress& progress);

/// What stands behind the title of a plan: ", cheapest first", ": nothing fits"; a search that was stopped doesn't know
/// the latter: ": nothing found". Pages say the same (planner/report/html/page/plan_words.js).
std::string plan_verdict(const PlanAnswer& answer);

/// "mu_dtype=bfloat16; or 8 chips": the first few changes; "" where none is known.
std::string would_fit_with(const MachinePlan& machine);

}  // namespace shardplan
