#pragma once
// What a computation does that is called, all of it together.
#include <audit/timeline/network_channel.hpp>
#include <audit/timeline/walk_schedule.hpp>

namespace shardplan {

struct CallWork {
  std::vector<CollectiveId> collectives;  ///< in the order in which they run
  double kernels = 0;                     ///< seconds, as in serial_seconds
};

/// Of computations one after the other, and what they call.
CallWork work_of(const std::vector<std::size_t>& computations, const HloSchedule& schedule, const StepPrices& prices);

/// Its seconds, if nothing ran beside anything: of loops as often as they run (once where nobody knows), of branches the
/// longest.
double serial_seconds(std::size_t computation, const HloSchedule& schedule, const StepPrices& prices);

}  // namespace shardplan
