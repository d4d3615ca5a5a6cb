#pragma once
// The network of a machine as a graph: devices and switches as nodes, links of several kinds between them. Every fabric
// is one (fabric_graphs.hpp, tiered_graphs.hpp make them), and a profile may list its own (docs/hardware-profiles.md).
#include <hardware/network/graph/torus_grid.hpp>
#include <optional>
#include <shardplan/units.hpp>
#include <string>
#include <vector>

namespace shardplan {

/// What links of one kind have in common.
struct LinkKind {
  std::string name;          ///< "nvlink"
  BytesPerSecond bandwidth;  ///< of one lane in one direction, raw
  Seconds latency;           ///< of a crossing
  bool is_port = false;      ///< inside a chip: it takes no time and limits nothing
};

struct GraphNode {
  std::string name;
  bool forwards = true;  ///< passes on what is meant for others: switches, chips of a torus
};

/// One direction of a link.
struct GraphLink {
  int from = 0, to = 0;  ///< nodes
  int kind = 0;
  int lanes = 1;
};

/// Made by finished_graph; nodes from 0 to `devices` - 1 are the devices, in the order in which meshes take them.
struct NetworkGraph {
  std::vector<LinkKind> kinds;
  std::vector<GraphNode> nodes;
  int devices = 0;
  std::vector<GraphLink> links;  ///< by `from`, then as added
  std::vector<int> first_link;   ///< of each node's in `links`; one more at the end
  /// [device][node]: links on the shortest way from that node to that device, over nodes that forward; -1: there is none.
  /// Empty with a grid.
  std::vector<int> distances;
  std::optional<TorusGrid> grid;  ///< messages take its dims in order; without one all shortest ways in equal parts

  BytesPerSecond bandwidth(const GraphLink& link) const { return kinds[link.kind].bandwidth * link.lanes; }
  int distance(int node, int device) const { return distances[device * nodes.size() + node]; }
  /// Whether the link is the next one on a shortest way from its beginning to `device`.
  bool leads_to(const GraphLink& link, int device) const;
};

/// Both directions of a link between two nodes.
void add_link(NetworkGraph& graph, int one, int other, int kind, int lanes = 1);

/// With links sorted and distances measured (where there is no grid); `graph` has kinds, nodes, devices and links.
NetworkGraph finished_graph(NetworkGraph graph);

/// What all links of the device with the fewest carry in one direction.
BytesPerSecond narrowest_device(const NetworkGraph& graph);

}  // namespace shardplan
