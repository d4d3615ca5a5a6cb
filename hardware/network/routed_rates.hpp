#pragma once
// Groups of a small torus that are no product of its dims: their messages are routed over its graph.
#include <hardware/network/graph/network_graph.hpp>
#include <hardware/network/group_rates.hpp>
#include <hardware/network/ring_order.hpp>
#include <shardplan/machine/hardware.hpp>
#include <vector>

namespace shardplan {

/// Bandwidths of the two kinds of links, bytes/s in each direction.
struct LinkRates {
  double chip_to_chip = 0;
  double die_to_die = 0;  ///< between the two devices of a chip; 0 where a chip is one device
};

using DeviceGroups = std::vector<std::vector<DeviceCoordinates>>;

/// The chips of a slice and their links.
NetworkGraph graph_of(const Slice& slice, const LinkRates& rates);

/// Rates of groups on that graph that are all busy with the same collective; rings run through the members in their order,
/// both ways.
GroupRates routed_rates(const NetworkGraph& torus, const DeviceGroups& groups);

}  // namespace shardplan
