#include <audit/traffic_groups.hpp>
#include <shardplan/error.hpp>

namespace shardplan {

std::vector<TrafficGroup> traffic_groups(const std::vector<TrafficChange>& changes) {
  std::vector<TrafficGroup> groups;
  for (const auto& change : changes) {
    if (groups.empty() || groups.back().traffic != change.traffic || groups.back().axes != change.axes)
      groups.push_back({change.traffic, change.axes, {}, {}, {}, {}, {}});
    TrafficGroup& group = groups.back();
    group.found += change.found;
    group.expected += change.expected;
    group.found_all_reduce += change.found_all_reduce;
    group.expected_all_reduce += change.expected_all_reduce;
    group.phases.push_back(&change);
  }
  return groups;
}

FindingId unexpected_traffic(TrafficClass traffic) {
  switch (traffic) {
    case TrafficClass::gather:
      return FindingId::unexpected_all_gather;
    case TrafficClass::reduce:
      return FindingId::unexpected_all_reduce;
    case TrafficClass::exchange:
      return FindingId::unexpected_all_to_all;
    case TrafficClass::shift:
      return FindingId::unexpected_collective_permute;
  }
  throw InternalError("unknown TrafficClass");
}

}  // namespace shardplan
