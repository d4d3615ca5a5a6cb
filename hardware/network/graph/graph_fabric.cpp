#include <hardware/network/graph/graph_fabric.hpp>

namespace shardplan {
namespace {

RoutedGroup measure(const NetworkGraph& graph, const GraphGroups& groups) {
  const int size = static_cast<int>(groups.front().size());
  const GatherWay gather = fastest_gather(graph, groups);
  const double exchange = exchange_rate(exchange_traffic(graph, groups), size);
  return {{size, gather.rate, exchange, ring_rate(shift_traffic(graph, groups)), gather.steps, gather.latency.value},
          gather.words};
}

}  // namespace

RoutedGroup GraphFabric::routed(const GraphGroups& groups) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = known_.find(groups); known != known_.end()) return known->second;
  }
  const RoutedGroup routed = measure(graph_, groups);
  const std::lock_guard lock(mutex_);
  return known_.emplace(groups, routed).first->second;
}

}  // namespace shardplan
