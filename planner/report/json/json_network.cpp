#include <algorithm>
#include <hardware/network/graph/max_flow.hpp>
#include <hardware/network/mesh_embedding.hpp>
#include <planner/report/json/json_network.hpp>
#include <shardplan/configuration.hpp>

namespace shardplan {
namespace {

constexpr int most_positions = 512;       // what can be drawn device by device
constexpr int most_of_a_group = 4096;  // and as a cloud

OrderedJson json_axis(const MeshAxis& axis, const GroupNetwork& network) {
  return {{"axis", axis.name},
          {"size", axis.size()},
          {"between_slices", axis.dcn},
          {"description", network.description},
          {"ring_bytes_per_second", json_number(network.ring_rate.value, "ring_rate")},
          {"exchange_bytes_per_second", json_number(network.exchange_rate.value, "exchange_rate")},
          {"shift_bytes_per_second", json_number(network.shift_rate.value, "shift_rate")},
          {"latency_seconds", json_number(network.latency.value, "latency")}};
}

OrderedJson json_axes(const MeshEmbedding& embedding, const Mesh& mesh) {
  OrderedJson axes = OrderedJson::array();
  for (std::size_t i = 0; i < mesh.axes.size(); ++i)
    if (mesh.axes[i].size() > 1) axes.push_back(json_axis(mesh.axes[i], embedding.network({static_cast<AxisId>(i)})));
  return axes;
}

/// One number a device: row-major over x, y, z and the devices of a chip, or over nodes and the devices of a node; of a
/// graph its own.
int position_of(const DeviceCoordinates& at, const Configuration& c) {
  if (c.hardware.graph) return at[0];
  const int cores = c.hardware.devices_per_chip;
  if (ends_at_node(c.hardware.fabric)) return at[0] * cores * c.hardware.chips_per_node + at[1];
  int position = 0;
  for (std::size_t dim = 0; dim < c.slice.torus.size(); ++dim) position = position * c.slice.torus[dim] + at[dim];
  return position * cores + at[3];
}

/// Crossings from a switch to the nearest device; 1 of a switch that is linked to nothing.
int tier_of(const NetworkGraph& graph, int node) {
  int tier = -1;
  for (int device = 0; device < graph.devices; ++device)
    if (const int away = graph.distance(node, device); away > 0 && (tier < 0 || away < tier)) tier = away;
  return std::max(tier, 1);
}

/// Every link has both directions, and is listed once.
OrderedJson json_ends(const NetworkGraph& graph) {
  OrderedJson ends = OrderedJson::array();
  for (const GraphLink& link : graph.links)
    if (link.from < link.to) ends.push_back({link.from, link.to});
  return ends;
}

OrderedJson json_graph(const NetworkGraph& graph, int devices) {
  const int nodes = static_cast<int>(graph.nodes.size());
  OrderedJson value = {{"devices", graph.devices},
                       {"switches", nodes - graph.devices},
                       {"links", graph.links.size() / 2},
                       {"bisection_bytes_per_second",
                        json_number(devices > 1 ? bisection(graph, devices).value : 0, "bisection")}};
  if (nodes > most_positions) return value;
  value["names"] = OrderedJson::array();
  for (const GraphNode& node : graph.nodes) value["names"].push_back(node.name);
  value["tiers"] = OrderedJson::array();
  for (int node = graph.devices; node < nodes; ++node) value["tiers"].push_back(tier_of(graph, node));
  value["ends"] = json_ends(graph);
  return value;
}

/// The positions of the devices that each axis joins with the first one, on a torus too large for all of them.
void add_first_groups(OrderedJson& axes, const MeshEmbedding& embedding, const Configuration& c) {
  const auto coordinates = embedding.device_coordinates();
  for (std::size_t i = 0, named = 0, stride = coordinates.size(); i < c.mesh.axes.size(); ++i) {
    const MeshAxis& axis = c.mesh.axes[i];
    stride /= static_cast<std::size_t>(axis.ici);
    if (axis.size() == 1) continue;
    OrderedJson& value = axes[named++];
    if (axis.ici > most_of_a_group) continue;
    value["first_group"] = OrderedJson::array();
    for (int member = 0; member < axis.ici; ++member)
      value["first_group"].push_back(position_of(coordinates[static_cast<std::size_t>(member) * stride], c));
  }
}

OrderedJson json_positions(const MeshEmbedding& embedding, const Configuration& c) {
  OrderedJson positions = OrderedJson::array();
  for (const auto& at : embedding.device_coordinates()) positions.push_back(position_of(at, c));
  return positions;
}

}  // namespace

OrderedJson json_network(const Configuration& c) {
  const auto embedded = embed(c.hardware, c.slice, c.mesh, device_order(c.config));
  const auto* embedding = std::get_if<MeshEmbedding>(&embedded);
  if (!embedding) return nullptr;
  OrderedJson value = {
      {"fabric", name_of(c.hardware.fabric)},
      {"slice", c.slice.name},
      {"slices", c.num_slices},
      {"torus", c.slice.torus},
      {"wraps", c.slice.wraps},
      {"devices_per_chip", c.hardware.devices_per_chip},
      {"chips_per_node", c.hardware.chips_per_node},
      {"link_bytes_per_second", json_number(c.hardware.link_bandwidth.value, "link_bandwidth")},
      {"scale_out_bytes_per_second", json_number(c.hardware.scale_out_bandwidth.value, "scale_out_bandwidth")},
      {"axes", json_axes(*embedding, c.mesh)}};
  const bool is_drawn = !c.hardware.graph || c.hardware.graph->graph().nodes.size() <= most_positions;
  if (c.hardware.graph) value["graph"] = json_graph(c.hardware.graph->graph(), c.slice.devices);
  if (is_drawn && c.slice.devices <= most_positions)
    value["positions"] = json_positions(*embedding, c);
  else if (c.hardware.fabric == FabricKind::torus)
    add_first_groups(value["axes"], *embedding, c);
  return value;
}

}  // namespace shardplan
