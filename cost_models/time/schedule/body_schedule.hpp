#pragma once
// One loop body on a device as a graph: its steps run one after the other on the compute stream; its collectives on one
// network channel, one at a time. A collective can start when the step that makes what it moves has ended, and has to
// have ended before the first step that reads what it brings. Which starts first: the one that is needed first. What the
// compute stream waits for is exposed, and is laid to the collective that it waits for.
// Worked: steps of 10 and 30 ms; a gather of 20 ms that the second needs, startable at once, and one of 15 ms that the
// first needs: 0-15 the second gather (the first step needs it: 15 ms exposed), 15-35 the first gather behind step one
// (15-25): 10 ms more. The body takes 65 ms.
#include <shardplan/answer/step_timeline.hpp>
#include <shardplan/units.hpp>
#include <vector>

namespace shardplan {

/// A collective of one run of the body; steps are indices, -1: before the first, steps.size(): after the last.
struct ScheduledCollective {
  Seconds seconds;
  int made_by = -1;    ///< starts when this step has ended
  int needed_by = 0;   ///< ends before this step starts
  bool asynchronous = true;  ///< else the compute stream waits while it runs
  bool ahead = false;        ///< the loop's iteration before has room for it: it may start there (a gather of weights),
                             ///< or end in the one after (a sum of gradients)
  bool of_leaf = false;      ///< nothing but collectives reads what the step makes: a weight's gradient
  double processors = 0;     ///< share of those of the compute stream that it takes while it runs: steps beside it have
                             ///< the rest, and take 1/(1 - share) as long
  bool operator==(const ScheduledCollective&) const = default;
};

struct BodyWaits {
  std::vector<Seconds> exposed;  ///< of each collective
  Seconds contention;            ///< what the steps take longer beside collectives
};

/// What one run of a loop body in the middle of its loop waits for each collective; whichever the network runs meanwhile
/// is waited for. A step of 30 ms beside a collective of 20 ms that takes an eighth of the processors: 32.5 ms.
BodyWaits exposed_in_body(const std::vector<Seconds>& steps, const std::vector<ScheduledCollective>& collectives);

/// A span of a collective.
struct PlacedMove {
  std::size_t collective = 0;
  TimeSpan span;
};

/// That run, from its begin: it ends with the last of its steps, or of the waits behind them.
struct PlacedBody {
  std::vector<TimeSpan> steps;
  std::vector<PlacedMove> moves;  ///< on the network while the run lasts, those of the runs before and behind it too
  std::vector<PlacedMove> waits;  ///< what exposed_in_body adds up
};
PlacedBody place_body(const std::vector<Seconds>& steps, const std::vector<ScheduledCollective>& collectives);

}  // namespace shardplan
