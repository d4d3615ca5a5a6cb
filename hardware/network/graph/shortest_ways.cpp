#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/filtered_graph.hpp>
#include <hardware/network/graph/network_graph.hpp>
#include <hardware/network/graph/shortest_ways.hpp>
#include <utility>

namespace shardplan {
namespace {

/// Links turned round: the search begins at the device that messages go to.
using Reversed = boost::compressed_sparse_row_graph<boost::directedS>;

Reversed reversed(const NetworkGraph& graph) {
  std::vector<std::pair<int, int>> links;
  links.reserve(graph.links.size());
  for (const GraphLink& link : graph.links) links.emplace_back(link.to, link.from);
  return Reversed(boost::edges_are_unsorted_multi_pass, links.begin(), links.end(), graph.nodes.size());
}

/// Ways end at a node that forwards nothing, unless it is the device they lead to.
struct Passable {
  const NetworkGraph* graph = nullptr;
  const Reversed* links = nullptr;
  int device = 0;
  bool operator()(const Reversed::edge_descriptor& link) const {
    const auto node = static_cast<int>(boost::source(link, *links));
    return node == device || graph->nodes[node].forwards;
  }
};

}  // namespace

std::vector<int> distances_to_devices(const NetworkGraph& graph) {
  const Reversed links = reversed(graph);
  const std::size_t nodes = graph.nodes.size();
  std::vector<int> distances(nodes * static_cast<std::size_t>(graph.devices), -1);
  for (int device = 0; device < graph.devices; ++device) {
    int* row = &distances[static_cast<std::size_t>(device) * nodes];
    row[device] = 0;
    const boost::filtered_graph<Reversed, Passable> passable(links, Passable{&graph, &links, device});
    boost::breadth_first_search(
        passable, static_cast<std::size_t>(device),
        boost::visitor(boost::make_bfs_visitor(boost::record_distances(row, boost::on_tree_edge()))));
  }
  return distances;
}

}  // namespace shardplan
