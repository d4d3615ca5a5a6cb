#pragma once
// Search of one machine: every candidate is costed, or beaten by what is bounded to be no faster than time_slack and no
// smaller than memory_slack allow (candidate.hpp: the slacks are measured, not proved). What it finds does not depend on the
// number of threads.
#include <planner/search/explore/incumbents.hpp>
#include <planner/search/explore/search_budget.hpp>
#include <vector>

namespace shardplan {

struct Explored {
  std::vector<Candidate> fitting;     ///< every costed candidate that fits, by parallelism, remat policy and batch
  /// Those of them that were costed for what every answer has, the front left aside: the same with and without it.
  std::vector<Candidate> contenders;
  std::int64_t known_to_fit = 0;      ///< these, and those of which the memory was looked at alone
  std::optional<Candidate> marginal;  ///< the fastest of the costed ones that are expected to fit, but not surely
  bool has_marginal = false;          ///< one of all that were looked at is
  std::optional<Candidate> smallest;  ///< nothing fits the memory: the one that needs least
  Front front;
  /// Seconds a token that no candidate of a parallelism gets below, by parallelism; empty where it is known that none fits.
  std::vector<std::optional<double>> least_seconds;
  Rejections rejections;
  std::int64_t evaluated = 0;
  std::int64_t left = 0;  ///< parallelisms that the budget left: not bounded, or bounded and not costed
};

/// Costs candidates until what `scope` asks for is certain, or the budget is spent.
Explored explore(const SearchSpace& space, const std::vector<Parallelism>& parallelisms, const Scope& scope,
                 const Evaluator& evaluate, const SearchBudget& budget = {});

/// The same; where candidates are expected to fit and none surely does, what is found once `space` asks for no more:
/// better a plan that may not fit than none.
Explored explore_what_may_fit(SearchSpace& space, const std::vector<Parallelism>& parallelisms, const Scope& scope,
                              const Evaluator& evaluate, const SearchBudget& budget = {});

/// Whether a candidate under the smallest policies fits, found with as few looks at memory as that takes.
struct Fits {
  bool any = false;
  std::optional<Bytes> smallest = {};  ///< peak that was met; empty where none was looked at
  std::int64_t evaluated = 0;
};
Fits any_fits(const SearchSpace& space, const std::vector<Parallelism>& parallelisms, const Evaluator& evaluate,
              const SearchBudget& budget = {});

}  // namespace shardplan
