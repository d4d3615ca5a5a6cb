#include <algorithm>
#include <cost_models/time/row_sums_time.hpp>

namespace shardplan {

Seconds row_sums_time(const RowSums& sums, const HardwareProfile& hardware) {
  if (!hardware.atomic_additions || sums.numbers == 0) return {};
  const AtomicAdditions& additions = *hardware.atomic_additions;
  return {sums.numbers * std::min(sums.rows, additions.in_flight / sums.width) / additions.attempts.value};
}

}  // namespace shardplan
