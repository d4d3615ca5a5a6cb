#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/edmonds_karp_max_flow.hpp>
#include <hardware/network/graph/max_flow.hpp>
#include <numeric>

namespace shardplan {
namespace {

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using Capacity = boost::property<boost::edge_capacity_t, double>;
using Residual = boost::property<boost::edge_residual_capacity_t, double, Capacity>;
using Arc = boost::property<boost::edge_reverse_t, Traits::edge_descriptor, Residual>;
using Colour = boost::property<boost::vertex_color_t, boost::default_color_type>;
using Node = boost::property<boost::vertex_predecessor_t, Traits::edge_descriptor, Colour>;
using FlowNetwork = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, Node, Arc>;

/// An arc and its reverse, which carries nothing of its own.
void add_arc(FlowNetwork& network, int from, int to, double capacity) {
  const auto arc = boost::add_edge(static_cast<std::size_t>(from), static_cast<std::size_t>(to), network).first;
  const auto back = boost::add_edge(static_cast<std::size_t>(to), static_cast<std::size_t>(from), network).first;
  boost::put(boost::edge_capacity, network, arc, capacity);
  boost::put(boost::edge_capacity, network, back, 0.0);
  boost::put(boost::edge_reverse, network, arc, back);
  boost::put(boost::edge_reverse, network, back, arc);
}

}  // namespace

BytesPerSecond max_flow(const NetworkGraph& graph, const std::vector<int>& sources, const std::vector<int>& sinks) {
  const int nodes = static_cast<int>(graph.nodes.size()), source = nodes, sink = nodes + 1;
  FlowNetwork network(static_cast<std::size_t>(nodes) + 2);
  std::vector<char> is_source(graph.nodes.size()), is_sink(graph.nodes.size());
  for (const int device : sources) is_source[device] = 1;
  for (const int device : sinks) is_sink[device] = 1;
  double all = 1, direct = 0;
  for (const GraphLink& link : graph.links) {
    const double bandwidth = graph.bandwidth(link).value;
    all += bandwidth;
    if (is_source[link.to] || is_sink[link.from]) continue;  // nothing more leaves the one, or has to leave the other
    if (is_source[link.from] && is_sink[link.to])
      direct += bandwidth;  // whatever else flows, it is full
    else if (is_source[link.from] || graph.nodes[link.from].forwards)
      add_arc(network, link.from, link.to, bandwidth);
  }
  for (const int device : sources) add_arc(network, source, device, all);
  for (const int device : sinks) add_arc(network, device, sink, all);
  const double others =
      boost::edmonds_karp_max_flow(network, static_cast<std::size_t>(source), static_cast<std::size_t>(sink));
  return {direct + others};
}

BytesPerSecond bisection(const NetworkGraph& graph, int devices) {
  std::vector<int> first(static_cast<std::size_t>(devices / 2)), second(static_cast<std::size_t>(devices - devices / 2));
  std::iota(first.begin(), first.end(), 0);
  std::iota(second.begin(), second.end(), devices / 2);
  return max_flow(graph, first, second);
}

}  // namespace shardplan
