#include <cost_models/time/schedule/collective_window.hpp>

namespace shardplan {
namespace {

/// What is left of a window while steps are taken into it.
struct Room {
  int kernels;
  Seconds time;  ///< that it has to cover

  bool takes(Seconds step) {
    if (kernels <= 0 && time.value <= 0) return false;
    if (step.value > 0) --kernels;
    time = time - step;
    return true;
  }
};

}  // namespace

void narrow(ScheduledCollective& move, const std::vector<Seconds>& steps, const OverlapRules& overlap) {
  if (overlap.window == 0) return;
  const int count = static_cast<int>(steps.size());
  if (move.made_by < 0) {
    Room room{overlap.window, overlap.window_covers_gather ? move.seconds : Seconds{}};
    int first = move.needed_by;
    while (first > 0 && room.takes(steps[first - 1])) --first;
    move.made_by = first - 1;
  } else if (move.needed_by >= count) {
    Room room{overlap.window, {}};
    int end = move.made_by + 1;
    while (end < count && room.takes(steps[end])) ++end;
    move.needed_by = end;
  }
}

}  // namespace shardplan
