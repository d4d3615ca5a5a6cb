#pragma once
// Networks of two tiers of switches.
#include <hardware/network/graph/network_graph.hpp>

namespace shardplan {

/// Every leaf switch has its devices and a link of `uplink_lanes` to every spine switch. Oversubscribed where
/// devices_per_leaf · device bandwidth > spines · uplink_lanes · uplink bandwidth.
struct LeafSpine {
  int leaves = 1, devices_per_leaf = 1, spines = 1, uplink_lanes = 1;
  LinkKind device_link, uplink;
};
NetworkGraph leaf_spine_graph(const LeafSpine& shape);

/// Nodes of devices on a switch of their own; the i-th device of every node has a link to the i-th rail switch. Between
/// rails messages take the spines, or where there are none the device of the other rail in their own node, which passes
/// them on (as NCCL's PXN does).
struct Rails {
  int nodes = 1, devices_per_node = 1, spines = 0, uplink_lanes = 1;
  LinkKind node_link, rail_link, uplink;
};
NetworkGraph rail_graph(const Rails& shape);

}  // namespace shardplan
