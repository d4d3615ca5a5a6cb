#pragma once
// Why this plan: what takes its time, what the next best one and the best pipeline lose, what the other rule sets cost.
#include <optional>
#include <planner/plan.hpp>
#include <planner/search/explore.hpp>
#include <planner/search/parallelism.hpp>
#include <string>
#include <vector>

namespace shardplan {

/// One sentence each, with numbers, most important first. The machine's plan has a recommendation; `pipeline` is the
/// fastest that fits with more than one stage, if any.
std::vector<std::string> reasons_for(const MachinePlan& plan, const std::optional<Evaluation>& pipeline,
                                     const SearchSpace& space, const std::vector<Parallelism>& parallelisms,
                                     const Explored& explored);

}  // namespace shardplan
