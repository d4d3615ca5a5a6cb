#pragma once
// One point of the search, small enough to keep thousands.
#include <cstdint>
#include <functional>
#include <optional>
#include <planner/search/space/search_space.hpp>
#include <shardplan/evaluation.hpp>

namespace shardplan {

/// evaluate() of planner/evaluate.hpp, or a test's stand-in. Called from several threads at once.
using Evaluator = std::function<Evaluation(const Configuration&)>;

/// How far a bound on memory may be wrong: of one sequence, what a policy saves can be less than what it then need not
/// recompute at the peak.
inline constexpr double memory_slack = 1.02;

/// How far a bound on seconds may be wrong: products of more rows don't always reach more of the peak, what a policy
/// saves has to be written, and with other steps other collectives hide. tests/unit/search/bounds_test.cpp: 5.0% at most
/// over its spaces.
inline constexpr double time_slack = 1.06;

struct Cost {
  double seconds_per_token = 0;  ///< of the whole job
  std::int64_t peak = 0;         ///< bytes per device
  bool fits = false;             ///< memory, as surely as the search asks, and every other constraint
  bool only_too_large = false;   ///< memory is the one thing in its way
  bool far_too_large = false;    ///< by more than bounds on memory may be wrong
  bool marginal = false;         ///< only the range of the peak is in its way: it is expected to fit
  bool operator==(const Cost&) const = default;
};

Cost cost_of(const Evaluation& evaluation, Certainty certainty);

/// What stands in the way of an evaluation that is not good enough for the search; empty: nothing.
std::optional<Infeasible> rejection_of(const Evaluation& evaluation, Certainty certainty);

struct Candidate {
  std::size_t parallelism = 0;  ///< index into the list of enumerate_parallelisms
  std::size_t remat = 0;        ///< index into SearchSpace::remat_policies
  std::size_t batch = 0;        ///< index into Parallelism::batches
  Cost cost;
};

}  // namespace shardplan
