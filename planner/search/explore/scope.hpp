#pragma once
#include <cstddef>

namespace shardplan {

/// What the search has to be certain of.
struct Scope {
  std::size_t keep = 1;             ///< so many of the best alternatives (is_alike)
  double margin = 0;                ///< every candidate at most this share slower than the fastest
  double front_margin = 0;          ///< the front of time against memory up to this share slower than the fastest
  bool best_of_strategies = false;  ///< and the fastest of each Strategy, whatever its place
  /// And below what time none of the parallelisms of a rule set gets that may fit (Explored::least_seconds).
  bool bounds_of_rule_sets = false;
  /// The fastest of those that are expected to fit, but not surely, of all that are looked at.
  bool fastest_marginal = false;
};

}  // namespace shardplan
