#pragma once
// Chips whose number no mesh takes well: fewer of them may train faster.
#include <planner/search/explore/search_budget.hpp>
#include <planner/search/space/candidate.hpp>
#include <shardplan/plan.hpp>
#include <string>

namespace shardplan {

/// "--chips 8192 would make 36.3% more tokens a second with …", of the largest power of two below the number of chips;
/// empty where that is no better, where the number is a power of two itself, or the machine has no such size.
std::string what_fewer_chips_make(const PlanRequest& request, const HardwareProfile& profile, const Evaluation& best,
                                  const Evaluator& evaluate, const SearchBudget& budget);

}  // namespace shardplan
