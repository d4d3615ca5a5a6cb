#pragma once
// What the same machine would make if it were asked otherwise, where that trains faster: reasons beside a plan.
#include <planner/search/explore/search_budget.hpp>
#include <planner/search/space/candidate.hpp>
#include <planner/search/space/rejections.hpp>
#include <shardplan/plan.hpp>
#include <string>

namespace shardplan {

/// Chips whose number no mesh takes well: "--chips 8192 would make 36.3% more tokens a second with …", of the largest power
/// of two below it; empty where that is no better, where the number is a power of two itself, or the machine has no such
/// size.
std::string what_fewer_chips_make(const PlanRequest& request, const HardwareProfile& profile, const Evaluation& best,
                                  const Evaluator& evaluate, const SearchBudget& budget);

/// Meshes that the torus can't hold whole. Plans keep to what JAX places by itself; where collectives take much of the
/// step, axes that share the torus's dims may be worth their slower links: "allow_split_physical_axes=true would make at
/// least 51.6% more tokens a second, with …"; empty where that spares less than is worth a setting, or the torus refused no
/// mesh. `rejections`: those of the meshes.
std::string what_split_axes_make(const PlanRequest& request, const HardwareProfile& profile, const Evaluation& best,
                                 const Rejections& rejections, const Evaluator& evaluate, const SearchBudget& budget);

}  // namespace shardplan
