#pragma once
// A machine's graph and the rates of groups on it. Rates of a search's many meshes are those of few groups: each is routed
// once.
#include <hardware/network/graph/gather_levels.hpp>
#include <hardware/network/group_rates.hpp>
#include <map>
#include <mutex>
#include <string>

namespace shardplan {

struct RoutedGroup {
  GroupRates rates;   ///< in the graph's raw bandwidths
  std::string words;  ///< "4 over nvlink, 2 over nic"
};

class GraphFabric {
 public:
  explicit GraphFabric(NetworkGraph graph) : graph_(std::move(graph)) {}

  const NetworkGraph& graph() const { return graph_; }

  /// Of groups that are all at it at once, two members or more each: gathering as gather_levels.hpp says, exchanging and
  /// shifting by what each link carries. May be called from several threads.
  RoutedGroup routed(const GraphGroups& groups) const;

 private:
  NetworkGraph graph_;
  mutable std::mutex mutex_;
  mutable std::map<GraphGroups, RoutedGroup> known_;
};

}  // namespace shardplan
