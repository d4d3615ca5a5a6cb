#pragma once
// Why this plan: what takes its time, what the next best one loses, which strategies fit nowhere, what the other rule
// sets cost.
#include <shardplan/plan.hpp>
#include <planner/search/explore/explore.hpp>
#include <planner/search/space/parallelism.hpp>
#include <string>
#include <vector>

namespace shardplan {

/// One sentence each, with numbers, most important first. The machine's plan has a recommendation and its strategies.
std::vector<std::string> reasons_for(const MachinePlan& plan, const SearchSpace& space,
                                     const std::vector<Parallelism>& parallelisms, const Explored& explored);

/// In what the plan's run trains another model than MaxText's settings for it would; "": in nothing.
std::string change_of_training(const Evaluation& plan, const Model& model);

}  // namespace shardplan
