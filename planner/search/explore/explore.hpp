#pragma once
// Exhaustive search of one machine: every candidate is costed or shown to be beaten. What it finds does not depend on
// the number of threads.
#include <planner/search/explore/search_budget.hpp>
#include <planner/search/explore/exploration.hpp>
#include <planner/search/space/parallelism.hpp>
#include <vector>

namespace shardplan {

/// Times that differ by less no cost model can tell apart.
inline constexpr double indistinguishable = 0.001;

/// What the search has to be certain of.
struct Scope {
  std::size_t keep = 1;             ///< so many of the best alternatives (is_alike)
  double margin = 0;                ///< every candidate at most this share slower than the fastest
  double front_margin = 0;          ///< the front of time against memory up to this share slower than the fastest
  bool best_of_strategies = false;  ///< and the fastest of each Strategy, whatever its place
};

struct Explored {
  std::vector<Candidate> fitting;     ///< every costed candidate that fits, by parallelism, remat policy and batch
  std::optional<Candidate> marginal;  ///< the fastest of the costed ones that are expected to fit, but not surely
  std::optional<Candidate> smallest;  ///< nothing fits the memory: the one that needs least
  Front front;
  /// Seconds a token that no candidate of a parallelism gets below, by parallelism; empty where none fits.
  std::vector<std::optional<double>> least_seconds;
  Rejections rejections;
  std::int64_t evaluated = 0;
  std::int64_t left = 0;  ///< parallelisms that the budget left: not bounded, or bounded and not costed
};

/// Costs candidates until what `scope` asks for is certain, or the budget is spent.
Explored explore(const SearchSpace& space, const std::vector<Parallelism>& parallelisms, const Scope& scope,
                 const Evaluator& evaluate, const SearchBudget& budget = {});

}  // namespace shardplan
