#pragma once
// Messages on the links of a graph, and how long the busiest link is at it.
#include <hardware/network/graph/network_graph.hpp>
#include <vector>

namespace shardplan {

class LinkTraffic {
 public:
  explicit LinkTraffic(const NetworkGraph& graph);

  /// On a grid a message takes the dims in order, the shorter way round, half each way on a tie; the other device of a
  /// chip is reached over the die-to-die link of the chip it starts on. Elsewhere it takes all shortest ways: each node
  /// sends equal parts over the links that lead on (equal-cost multipath).
  void send(int from, int to, double bytes);

  /// A message from each of the members to `to`, but from itself. Where they meet they go on as one, so that all of a
  /// large group cost little more than a few.
  void send_all(const std::vector<int>& members, int to, double bytes);

  /// Seconds until the busiest link is done.
  double busiest() const;

  bool uses(int link) const { return bytes_[link] > 0; }

 private:
  void send_over_grid(int from, int to, double bytes);
  void walk(int chip, int dim, int steps, double bytes);
  void send_over_shortest_ways(int to);
  void pass_on(int node, int to);
  void put(int node, int to, double bytes);

  const NetworkGraph& graph_;
  std::vector<double> bytes_;    ///< on each link
  std::vector<double> waiting_;  ///< at each node, for one device; all 0 between messages
  std::vector<std::vector<int>> nodes_at_;  ///< by distance from that device: where something waits
};

/// The links of one of the ways that a message takes: where several are as short the first in the graph, on a tie round a
/// ring the one ahead.
std::vector<int> one_way(const NetworkGraph& graph, int from, int to);

/// Where there is no grid: the first link of that way.
int first_of_way(const NetworkGraph& graph, int from, int to);

}  // namespace shardplan
