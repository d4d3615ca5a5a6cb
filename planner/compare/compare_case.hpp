#pragma once
// The best configurations of one rule set on one path through the experts.
#include <planner/compare/compare_answer.hpp>
#include <planner/search/space/candidate.hpp>
#include <variant>
#include <vector>

namespace shardplan {

/// Why a case has nothing to show.
struct Refusal {
  std::string reason;
  bool is_infeasible = false;  ///< a constraint that all of its configurations break; else it can't be asked for
};

/// The `top` best by the request's objective that fit; where none does, the fastest that may, or the one with the least
/// memory. Or why there is none at all.
using BestOrRefusal = std::variant<std::vector<Evaluation>, Refusal>;

/// `request` has one machine, one rule set and at most one path.
BestOrRefusal best_of_case(const PlanRequest& request, int top, const Evaluator& evaluate);

}  // namespace shardplan
