#include <algorithm>
#include <hardware/network/graph/network_graph.hpp>
#include <hardware/network/graph/shortest_ways.hpp>

namespace shardplan {

bool NetworkGraph::leads_to(const GraphLink& link, int device) const {
  if (link.to != device && !nodes[link.to].forwards) return false;
  const int left = distance(link.to, device);
  return left >= 0 && left + 1 == distance(link.from, device);
}

void add_link(NetworkGraph& graph, int one, int other, int kind, int lanes) {
  graph.links.push_back({one, other, kind, lanes});
  graph.links.push_back({other, one, kind, lanes});
}

NetworkGraph finished_graph(NetworkGraph graph) {
  std::stable_sort(graph.links.begin(), graph.links.end(),
                   [](const GraphLink& a, const GraphLink& b) { return a.from < b.from; });
  graph.first_link.assign(graph.nodes.size() + 1, 0);
  for (const GraphLink& link : graph.links) ++graph.first_link[link.from + 1];
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) graph.first_link[node + 1] += graph.first_link[node];
  if (!graph.grid) graph.distances = distances_to_devices(graph);
  return graph;
}

BytesPerSecond narrowest_device(const NetworkGraph& graph) {
  std::vector<BytesPerSecond> sums(static_cast<std::size_t>(graph.devices));
  for (const GraphLink& link : graph.links)
    if (link.from < graph.devices) sums[link.from] += graph.bandwidth(link);
  return *std::min_element(sums.begin(), sums.end());
}

}  // namespace shardplan
