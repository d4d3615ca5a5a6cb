#pragma once
// Today's fabrics as graphs: a torus or mesh of chips, a switch, direct links. One device a node, numbered from 0.
#include <hardware/network/graph/network_graph.hpp>

namespace shardplan {

/// A torus of chips; devices row-major, the last dim (and then the devices of a chip) fastest.
struct TorusShape {
  std::vector<int> extents;
  std::vector<bool> closed;     ///< a closed dim of 2 has two links between its chips
  std::vector<LinkKind> kinds;  ///< of each dim's links; dims with kinds of one name share one
  /// Between the two devices of each chip, which share its links; absent: a chip is one device.
  std::optional<LinkKind> die_to_die;
};
NetworkGraph torus_graph(const TorusShape& shape);

/// Every device with one link to the same switch.
NetworkGraph switch_graph(int devices, const LinkKind& kind);

/// Every device with one link to each other one; none passes anything on.
NetworkGraph full_mesh_graph(int devices, const LinkKind& kind);

}  // namespace shardplan
