#include <hardware/network/graph/group_traffic.hpp>

namespace shardplan {

LinkTraffic ring_traffic(const NetworkGraph& graph, const GraphGroups& groups, RingWay way) {
  if (way == RingWay::one) return shift_traffic(graph, groups);
  LinkTraffic traffic(graph);
  for (const auto& group : groups)
    for (std::size_t i = 0; i < group.size(); ++i) {
      const int next = group[(i + 1) % group.size()];
      traffic.send(group[i], next, 0.5);
      traffic.send(next, group[i], 0.5);
    }
  return traffic;
}

LinkTraffic exchange_traffic(const NetworkGraph& graph, const GraphGroups& groups) {
  LinkTraffic traffic(graph);
  const double n = static_cast<double>(groups.front().size());
  for (const auto& group : groups)
    for (const int to : group) traffic.send_all(group, to, 1 / n);
  return traffic;
}

LinkTraffic shift_traffic(const NetworkGraph& graph, const GraphGroups& groups) {
  LinkTraffic traffic(graph);
  for (const auto& group : groups)
    for (std::size_t i = 0; i < group.size(); ++i) traffic.send(group[i], group[(i + 1) % group.size()], 1);
  return traffic;
}

double ring_rate(const LinkTraffic& traffic) { return 1 / traffic.busiest(); }

double exchange_rate(const LinkTraffic& traffic, int size) {
  const double n = size;
  return (n - 1) / n / traffic.busiest();
}

}  // namespace shardplan
