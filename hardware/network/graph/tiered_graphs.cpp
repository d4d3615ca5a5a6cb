#include <fmt/format.h>

#include <hardware/network/graph/tiered_graphs.hpp>

namespace shardplan {
namespace {

int add_nodes(NetworkGraph& graph, int count, const char* name) {
  const int first = static_cast<int>(graph.nodes.size());
  for (int i = 0; i < count; ++i) graph.nodes.push_back({fmt::format("{}{}", name, i), true});
  return first;
}

void join_to_spines(NetworkGraph& graph, int first, int count, int spines, int kind, int lanes) {
  const int spine = add_nodes(graph, spines, "spine");
  for (int node = first; node < first + count; ++node)
    for (int s = 0; s < spines; ++s) add_link(graph, node, spine + s, kind, lanes);
}

}  // namespace

NetworkGraph leaf_spine_graph(const LeafSpine& shape) {
  NetworkGraph graph;
  graph.kinds = {shape.device_link, shape.uplink};
  graph.devices = shape.leaves * shape.devices_per_leaf;
  add_nodes(graph, graph.devices, "device");
  for (GraphNode& device : graph.nodes) device.forwards = false;
  const int leaf = add_nodes(graph, shape.leaves, "leaf");
  for (int device = 0; device < graph.devices; ++device) add_link(graph, device, leaf + device / shape.devices_per_leaf, 0);
  join_to_spines(graph, leaf, shape.leaves, shape.spines, 1, shape.uplink_lanes);
  return finished_graph(std::move(graph));
}

NetworkGraph rail_graph(const Rails& shape) {
  NetworkGraph graph;
  graph.kinds = {shape.node_link, shape.rail_link, shape.uplink};
  graph.devices = shape.nodes * shape.devices_per_node;
  add_nodes(graph, graph.devices, "device");
  for (GraphNode& device : graph.nodes) device.forwards = shape.spines == 0;
  const int node = add_nodes(graph, shape.nodes, "node");
  const int rail = add_nodes(graph, shape.devices_per_node, "rail");
  for (int device = 0; device < graph.devices; ++device) {
    add_link(graph, device, node + device / shape.devices_per_node, 0);
    add_link(graph, device, rail + device % shape.devices_per_node, 1);
  }
  if (shape.spines > 0) join_to_spines(graph, rail, shape.devices_per_node, shape.spines, 2, shape.uplink_lanes);
  return finished_graph(std::move(graph));
}

}  // namespace shardplan
