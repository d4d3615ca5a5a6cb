#pragma once
// Loop bodies that were scheduled before. Remat policies of one mesh and batch share most of theirs: the head's, the
// embedding's, the layers' forward ones. What is scheduled is compared, not why it would be the same. How long each
// operation takes once follows from where the block's tensors are, which no policy changes.
#include <cost_models/time/compute_time.hpp>
#include <cost_models/time/schedule/combined_collectives.hpp>
#include <optional>

namespace shardplan {

class KnownBodies {
 public:
  /// operation_time of each operation of a step's block number `index`, on a machine and under a compiler that are always
  /// the same. Valid until that block's next call.
  const std::vector<OperationTime>& times(std::size_t index, const PartitionedBlock& block, const HardwareProfile& hardware,
                                          const Compiler& compiler);
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
  struct KnownTimes {
    std::shared_ptr<const BlockLayout> layout;
    std::vector<OperationTime> times;
  };
  std::vector<std::optional<Known>> last_;  ///< by body
  std::vector<KnownTimes> last_times_;      ///< by block
};

}  // namespace shardplan
