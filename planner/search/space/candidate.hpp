#pragma once
// One point of the search, small enough to keep thousands.
#include <cstdint>
#include <optional>
#include <utility>
#include <planner/evaluate/evaluator.hpp>
#include <planner/search/space/search_space.hpp>
#include <shardplan/evaluation.hpp>

namespace shardplan {

/// How far a bound on memory may be wrong: of one sequence, what a policy saves can be less than what it then need not
/// recompute at the peak.
inline constexpr double memory_slack = 1.02;

/// How far a bound on seconds may be wrong: products of more rows don't always reach more of the peak, what a policy
/// saves has to be written, and with other steps other collectives hide. tests/unit/search/bounds_test.cpp: 9.9% at most
/// over its spaces, between a batch and the largest (experts summed over data and fsdp at once).
inline constexpr double time_slack = 1.10;

/// The same between batches that may fit and aren't the smallest, whatever their policies, and between policies that have
/// the same batch: 3.9% at most.
inline constexpr double fitting_slack = 1.05;

/// The same of one policy: 1.2% at most.
inline constexpr double batch_slack = 1.02;

struct Cost {
  double seconds_per_token = 0;  ///< of the whole job; 0 where its memory was looked at alone
  std::int64_t peak = 0;         ///< bytes per device
  std::int64_t room = 0;         ///< bytes that it could need more without being far too large; below 0: it is
  std::int64_t space = 0;        ///< bytes that are left beside the program's arguments before it is far too large
  std::int64_t growing = 0;      ///< of the peak what may grow with the batch: activations and temporaries
  bool fits = false;             ///< memory, as surely as the search asks, and everything else that it asks
  bool only_too_large = false;   ///< memory is the one thing in its way
  bool far_too_large() const { return room < 0; }  ///< by more than bounds on memory may be wrong
  /// Whether a batch of this share of its own is: of what it needs beside its arguments some grows with the batch, the rest
  /// is there whatever it is.
  bool is_too_large_with(double share_of_batch) const {
    return static_cast<double>(space) * (1 - share_of_batch) + static_cast<double>(room) * share_of_batch < 0;
  }
  bool marginal = false;         ///< only the range of the peak is in its way: it is expected to fit
  bool only_too_slow = false;    ///< the length of its step is the one thing in its way
  double falling_seconds = 0;    ///< of seconds_per_token what falls with the batch: all but experts' bias gradients
  bool is_timed() const { return seconds_per_token > 0; }
  void forget_time() { seconds_per_token = falling_seconds = 0; }
  bool operator==(const Cost&) const = default;
};

Cost cost_of(const RunCost& run, const Requirements& required);

/// The most that a device may need, as far as bounds on memory go.
Bytes most_memory(Bytes allowed);

/// What stands in the way of a run that is not good enough for the search; empty: nothing.
std::optional<Infeasible> rejection_of(const RunCost& run, const Requirements& required);

/// Of a program that fits the memory, but not beside what is to stay free.
Infeasible keeps_too_little_free(const MemoryUse& memory);

struct Candidate {
  std::size_t parallelism = 0;  ///< index into the list of enumerate_parallelisms
  std::size_t remat = 0;        ///< index into SearchSpace::remat_policies
  std::size_t batch = 0;        ///< index into Parallelism::batches
  Cost cost;
};

}  // namespace shardplan
