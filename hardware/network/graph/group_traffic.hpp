#pragma once
// One collective at a time in groups of devices that are all busy with it at once: the most loaded link sets the rate.
// Rates are per device as in GroupRates (group_rates.hpp), in the graph's raw bandwidths.
#include <hardware/network/graph/link_traffic.hpp>
#include <vector>

namespace shardplan {

/// The members of each group in mesh order; groups of one size.
using GraphGroups = std::vector<std::vector<int>>;

enum class RingWay {
  one,   ///< everything to the next member: n-1 steps
  both,  ///< half to the next and half to the one before
};

/// All-gather by a ring through the members in their order: each passes on everything it has. A rate of 1 / busiest.
LinkTraffic ring_traffic(const NetworkGraph& graph, const GraphGroups& groups, RingWay way);

/// Every member sends an n-th of its buffer to each other one: all-to-all, or an all-gather in a single step.
/// A rate of (n-1)/n / busiest.
LinkTraffic exchange_traffic(const NetworkGraph& graph, const GraphGroups& groups);

/// Every member sends its buffer to the next one, the last to the first. A rate of 1 / busiest.
LinkTraffic shift_traffic(const NetworkGraph& graph, const GraphGroups& groups);

/// Of groups of `size`, by how their traffic is counted.
double ring_rate(const LinkTraffic& traffic);
double exchange_rate(const LinkTraffic& traffic, int size);

}  // namespace shardplan
