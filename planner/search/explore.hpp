#pragma once
// Exhaustive search of one machine: every candidate is costed or shown to be beaten. What it finds does not depend on
// the number of threads.
#include <planner/search/exploration.hpp>
#include <planner/search/parallelism.hpp>
#include <vector>

namespace shardplan {

/// The front of time against memory ends at this share slower than the fastest: who trades more time than that for
/// memory is better served by --objective memory on fewer chips.
inline constexpr double front_margin = 0.5;

struct Explored {
  std::vector<Candidate> fitting;     ///< every costed candidate that fits, by parallelism, remat policy and batch
  std::optional<Candidate> smallest;  ///< nothing fits: the one with the least memory
  Front front;
  /// Seconds a token that no candidate of a parallelism gets below, by parallelism; empty where none fits.
  std::vector<std::optional<double>> least_seconds;
  Rejections rejections;
  std::int64_t evaluated = 0;
};

/// Costs candidates until the front of time against memory, the `keep` best parallelisms and all within `margin` (0.1:
/// 10% slower) of the fastest are certain.
Explored explore(const SearchSpace& space, const std::vector<Parallelism>& parallelisms, std::size_t keep,
                 double margin, const Evaluator& evaluate);

}  // namespace shardplan
