#include <cost_models/time/schedule/known_bodies.hpp>

namespace shardplan {

const std::vector<OperationTime>& KnownBodies::times(std::size_t index, const PartitionedBlock& block,
                                                     const HardwareProfile& hardware, const Compiler& compiler) {
  if (last_times_.size() <= index) last_times_.resize(index + 1);
  auto& [layout, times] = last_times_[index];
  if (layout == block.layout) return times;
  layout = block.layout;
  times.clear();
  times.reserve(block.work().size());
  for (const OperationWork& work : block.work()) times.push_back(operation_time(work, hardware, compiler));
  return times;
}

const BodyWaits& KnownBodies::waits(std::size_t body, const std::vector<Seconds>& steps,
                                    std::vector<ScheduledCollective> moves, std::vector<CombinedKind> kinds,
                                    const OverlapRules& overlap) {
  if (last_.size() <= body) last_.resize(body + 1);
  std::optional<Known>& known = last_[body];
  if (known && known->steps == steps && known->moves == moves && known->kinds == kinds) return known->waits;
  BodyWaits waits = schedule_combined(steps, moves, kinds, overlap);
  known = Known{steps, std::move(moves), std::move(kinds), std::move(waits)};
  return known->waits;
}

}  // namespace shardplan
