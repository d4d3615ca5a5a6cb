#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <hardware/network/graph/fabric_graphs.hpp>
#include <numeric>

namespace shardplan {
namespace {

/// Inside a chip messages reach its links over ports so wide that they limit nothing.
constexpr double port_lanes = 1000;

void add_devices(NetworkGraph& graph, int devices, bool forwards) {
  graph.devices = devices;
  for (int device = 0; device < devices; ++device) graph.nodes.push_back({fmt::format("device{}", device), forwards});
}

int kind_of(NetworkGraph& graph, const LinkKind& kind) {
  const auto same_name = [&](const LinkKind& other) { return other.name == kind.name; };
  const auto known = std::find_if(graph.kinds.begin(), graph.kinds.end(), same_name);
  if (known != graph.kinds.end()) return static_cast<int>(known - graph.kinds.begin());
  graph.kinds.push_back(kind);
  return static_cast<int>(graph.kinds.size()) - 1;
}

/// Adds the links of a torus chip by chip, so that the place of each among its node's is known.
class TorusBuilder {
 public:
  explicit TorusBuilder(const TorusShape& shape) : shape_(shape) {
    chips_ = std::accumulate(shape.extents.begin(), shape.extents.end(), 1, std::multiplies<>());
    grid_ = {shape.extents, shape.closed, shape.die_to_die ? 2 : 1, {}, {}, {}, {}};
    add_devices(graph_, chips_ * grid_.devices_per_chip, true);
  }

  NetworkGraph build() {
    if (shape_.die_to_die) add_ports();
    for (int chip = 0; chip < chips_; ++chip)
      for (std::size_t dim = 0; dim < shape_.extents.size(); ++dim)
        for (const int direction : {1, -1}) add_step(chip, dim, direction);
    graph_.grid = grid_;
    return number_links(finished_graph(std::move(graph_)));
  }

 private:
  int node_of(int chip) const { return shape_.die_to_die ? graph_.devices + chip : chip; }

  void add_ports() {
    LinkKind port = shape_.kinds.front();
    port.name = "port", port.bandwidth = port.bandwidth * port_lanes, port.latency = {}, port.is_port = true;
    for (int chip = 0; chip < chips_; ++chip) graph_.nodes.push_back({fmt::format("chip{}", chip), true});
    const int ports = kind_of(graph_, port), die = kind_of(graph_, *shape_.die_to_die);
    for (int device = 0; device < graph_.devices; ++device) {
      graph_.links.push_back({device, node_of(device / 2), ports});
      graph_.links.push_back({device, device ^ 1, die});
    }
    for (int device = 0; device < graph_.devices; ++device) graph_.links.push_back({node_of(device / 2), device, ports});
  }

  void add_step(int chip, std::size_t dim, int direction) {
    const int to = neighbour(chip, dim, direction);
    if (to >= 0) graph_.links.push_back({node_of(chip), node_of(to), kind_of(graph_, shape_.kinds[dim])});
  }

  /// -1: none.
  int neighbour(int chip, std::size_t dim, int direction) const {
    const int extent = shape_.extents[dim];
    const auto later = shape_.extents.begin() + static_cast<std::ptrdiff_t>(dim) + 1;
    const int stride = std::accumulate(later, shape_.extents.end(), 1, std::multiplies<>());
    const int at = chip / stride % extent, next = at + direction;
    if (extent == 1 || (!shape_.closed[dim] && (next < 0 || next >= extent))) return -1;
    return chip + ((next + extent) % extent - at) * stride;
  }

  /// Links of a node stand in the order in which they were added: a device's port and die-to-die link, a chip's ports
  /// to its devices, then its steps.
  NetworkGraph number_links(NetworkGraph graph) {
    const bool paired = shape_.die_to_die.has_value();
    for (int device = 0; paired && device < graph.devices; ++device) {
      grid_.leave.push_back(graph.first_link[device]);
      grid_.siblings.push_back(graph.first_link[device] + 1);
      grid_.enter.push_back(graph.first_link[node_of(device / 2)] + device % 2);
    }
    for (int chip = 0; chip < chips_; ++chip) {
      int next = graph.first_link[paired ? graph.devices + chip : chip] + (paired ? 2 : 0);
      for (std::size_t dim = 0; dim < shape_.extents.size(); ++dim)
        for (const int direction : {1, -1}) grid_.steps.push_back(neighbour(chip, dim, direction) < 0 ? -1 : next++);
    }
    graph.grid = grid_;
    return graph;
  }

  const TorusShape& shape_;
  int chips_ = 0;
  TorusGrid grid_;
  NetworkGraph graph_;
};

}  // namespace

NetworkGraph torus_graph(const TorusShape& shape) { return TorusBuilder(shape).build(); }

NetworkGraph switch_graph(int devices, const LinkKind& kind) {
  NetworkGraph graph;
  add_devices(graph, devices, false);
  graph.nodes.push_back({"switch", true});
  for (int device = 0; device < devices; ++device) add_link(graph, device, devices, kind_of(graph, kind));
  return finished_graph(std::move(graph));
}

NetworkGraph full_mesh_graph(int devices, const LinkKind& kind) {
  NetworkGraph graph;
  add_devices(graph, devices, false);
  for (int one = 0; one < devices; ++one)
    for (int other = one + 1; other < devices; ++other) add_link(graph, one, other, kind_of(graph, kind));
  return finished_graph(std::move(graph));
}

}  // namespace shardplan
