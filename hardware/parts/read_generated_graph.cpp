#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <formats/named_value.hpp>
#include <hardware/network/graph/fabric_graphs.hpp>
#include <hardware/network/graph/tiered_graphs.hpp>
#include <hardware/parts/read_generated_graph.hpp>
#include <hardware/parts/read_graph.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

enum class Shape { torus, switched, full_mesh, leaf_spine, rails };
constexpr int most_generated = 1024;

std::vector<int> read_extents(StrictObject& object) {
  std::vector<int> extents;
  long devices = 1;
  for (const auto& value : object.array("extents")) {
    const std::int64_t extent = value.is_number_integer() ? value.get<std::int64_t>() : 0;
    extents.push_back(static_cast<int>(std::clamp<std::int64_t>(extent, 0, most_generated + 1)));
    devices *= extents.back();
    if (devices < 1 || devices > most_generated)
      object.fail("extents", fmt::format("whole numbers whose product is 1 to {}", most_generated));
  }
  if (extents.empty()) object.fail("extents", "the devices along each dim");
  return extents;
}

std::vector<bool> read_closed(StrictObject& object, std::size_t dims) {
  std::vector<bool> closed;
  for (const auto& value : object.array("closed")) {
    if (!value.is_boolean()) object.fail("closed", "true or false for each dim");
    closed.push_back(value.get<bool>());
  }
  if (closed.size() != dims) object.fail("closed", fmt::format("one for each of the {} dims", dims));
  return closed;
}

NetworkGraph read_torus(StrictObject& object, const std::vector<LinkKind>& kinds) {
  TorusShape shape;
  shape.extents = read_extents(object);
  shape.closed = read_closed(object, shape.extents.size());
  const auto names = object.texts("kinds");
  if (names.size() != shape.extents.size())
    object.fail("kinds", fmt::format("one for each of the {} dims", shape.extents.size()));
  for (const std::string& name : names) shape.kinds.push_back(kinds[kind_named(object, name, kinds)]);
  return torus_graph(shape);
}

LeafSpine read_leaf_spine(StrictObject& object, const std::vector<LinkKind>& kinds) {
  LeafSpine shape;
  shape.leaves = read_graph_count(object, "leaves", most_generated);
  shape.devices_per_leaf = read_graph_count(object, "devices_per_leaf", most_generated / shape.leaves);
  shape.spines = read_graph_count(object, "spines", most_generated);
  if (object.has("uplink_lanes")) shape.uplink_lanes = read_graph_count(object, "uplink_lanes", most_generated);
  shape.device_link = kinds[read_kind(object, "device_kind", kinds)];
  shape.uplink = kinds[read_kind(object, "uplink_kind", kinds)];
  return shape;
}

Rails read_rails(StrictObject& object, const std::vector<LinkKind>& kinds) {
  Rails shape;
  shape.nodes = read_graph_count(object, "nodes", most_generated);
  shape.devices_per_node = read_graph_count(object, "devices_per_node", most_generated / shape.nodes);
  shape.node_link = kinds[read_kind(object, "node_kind", kinds)];
  shape.rail_link = kinds[read_kind(object, "rail_kind", kinds)];
  if (!object.has("spines")) return shape;
  shape.spines = read_graph_count(object, "spines", most_generated);
  if (object.has("uplink_lanes")) shape.uplink_lanes = read_graph_count(object, "uplink_lanes", most_generated);
  shape.uplink = kinds[read_kind(object, "uplink_kind", kinds)];
  return shape;
}

NetworkGraph read_shape(StrictObject& object, const std::vector<LinkKind>& kinds) {
  static constexpr NamedValues<Shape, 5> known{{{"torus", Shape::torus},
                                                {"switch", Shape::switched},
                                                {"full_mesh", Shape::full_mesh},
                                                {"leaf_spine", Shape::leaf_spine},
                                                {"rails", Shape::rails}}};
  switch (value_of(known, object, "shape")) {
    case Shape::torus:
      return read_torus(object, kinds);
    case Shape::switched: {
      const int devices = read_graph_count(object, "devices", most_generated);
      return switch_graph(devices, kinds[read_kind(object, "kind", kinds)]);
    }
    case Shape::full_mesh: {
      const int devices = read_graph_count(object, "devices", most_generated);
      return full_mesh_graph(devices, kinds[read_kind(object, "kind", kinds)]);
    }
    case Shape::leaf_spine:
      return leaf_spine_graph(read_leaf_spine(object, kinds));
    case Shape::rails:
      return rail_graph(read_rails(object, kinds));
  }
  throw InternalError("unknown shape of a graph");
}

}  // namespace

NetworkGraph read_generated_graph(StrictObject object, const std::vector<LinkKind>& kinds) {
  NetworkGraph graph = read_shape(object, kinds);
  object.finish();
  return graph;
}

}  // namespace shardplan
