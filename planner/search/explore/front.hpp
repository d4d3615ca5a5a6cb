#pragma once
// The Pareto front of time against memory: what no other candidate beats in one without losing in the other.
#include <cstdint>
#include <planner/search/space/candidate.hpp>
#include <vector>

namespace shardplan {

class Front {
 public:
  void add(const Candidate& candidate);
  /// Whether something on the front is at least as fast and at least as small, and better in one of the two.
  bool beats(double seconds_per_token, std::int64_t peak) const;
  /// Fastest first. Of equals the first that was added.
  const std::vector<Candidate>& candidates() const { return candidates_; }

 private:
  std::vector<Candidate> candidates_;  // rising seconds, falling peak
};

}  // namespace shardplan
