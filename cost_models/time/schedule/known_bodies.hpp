#pragma once
// Loop bodies that were scheduled before. Remat policies of one mesh and batch share most of theirs: the head's, the
// embedding's, the layers' forward ones. What is scheduled is compared, not why it would be the same.
#include <cost_models/time/schedule/combined_collectives.hpp>
#include <optional>

namespace shardplan {

class KnownBodies {
 public:
  /// schedule_combined of a step's body number `body`, which need not be new, by rules that are always the same. Valid
  /// until that body's next call.
  const BodyWaits& waits(std::size_t body, const std::vector<Seconds>& steps, std::vector<ScheduledCollective> moves,
                         std::vector<CombinedKind> kinds, const OverlapRules& overlap);

 private:
  struct Known {
    std::vector<Seconds> steps;
    std::vector<ScheduledCollective> moves;
    std::vector<CombinedKind> kinds;
    BodyWaits waits;
  };
  std::vector<std::optional<Known>> last_;  ///< by body
};

}  // namespace shardplan
