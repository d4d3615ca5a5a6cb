#include <hardware/network/mesh_embedding.hpp>
#include <planner/report/json/json_network.hpp>
#include <shardplan/configuration.hpp>

namespace shardplan {
namespace {

constexpr int most_positions = 512;  // what can be drawn

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

/// One number a device: row-major over x, y, z and the devices of a chip, or over nodes and the devices of a node.
int position_of(const DeviceCoordinates& at, const Configuration& c) {
  const int cores = c.hardware.devices_per_chip;
  if (ends_at_node(c.hardware.fabric)) return at[0] * cores * c.hardware.chips_per_node + at[1];
  int position = 0;
  for (std::size_t dim = 0; dim < c.slice.torus.size(); ++dim) position = position * c.slice.torus[dim] + at[dim];
  return position * cores + at[3];
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
  if (c.slice.devices <= most_positions) value["positions"] = json_positions(*embedding, c);
  return value;
}

}  // namespace shardplan
