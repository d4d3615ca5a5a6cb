#pragma once
// Meshes that the torus can't hold whole. Plans keep to what JAX places by itself; where collectives take much of the step,
// axes that share the torus's dims may be worth their slower links.
#include <planner/search/explore/search_budget.hpp>
#include <planner/search/space/candidate.hpp>
#include <planner/search/space/rejections.hpp>
#include <shardplan/plan.hpp>
#include <string>

namespace shardplan {

/// "allow_split_physical_axes=true would make at least 51.6% more tokens a second, with …"; empty where that spares less
/// than is worth a setting, or the torus refused no mesh. `rejections`: those of the meshes.
std::string what_split_axes_make(const PlanRequest& request, const HardwareProfile& profile, const Evaluation& best,
                                 const Rejections& rejections, const Evaluator& evaluate, const SearchBudget& budget);

}  // namespace shardplan
