#pragma once
// Changes of a program's traffic, summed over its phases: what a finding is about.
#include <audit/compare_traffic.hpp>
#include <shardplan/finding.hpp>
#include <vector>

namespace shardplan {

/// One class and axes, over all phases.
struct TrafficGroup {
  TrafficClass traffic = TrafficClass::gather;
  AxisList axes;
  Traffic found, expected;
  Traffic found_all_reduce, expected_all_reduce;
  std::vector<const TrafficChange*> phases;
  std::int64_t excess() const { return found.bytes.value - expected.bytes.value; }
};

/// In the order of `changes`, which must outlive them; those of one class and axes stand side by side there.
std::vector<TrafficGroup> traffic_groups(const std::vector<TrafficChange>& changes);

/// What more of it than is expected is called.
FindingId unexpected_traffic(TrafficClass traffic);

}  // namespace shardplan
