#include <algorithm>
#include <map>
#include <planner/compare/traffic.hpp>
#include <shardplan/error.hpp>
#include <tuple>

namespace shardplan {
namespace {

Bytes& part_of(TrafficBytes& traffic, CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_to_all:
    case CollectiveKind::ragged_all_to_all:
      return traffic.all_to_all;
    case CollectiveKind::all_gather:
      return traffic.gather;
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_reduce:
      return traffic.reduce;
    case CollectiveKind::collective_permute:
      return traffic.permute;
  }
  throw InternalError("unknown CollectiveKind");
}

}  // namespace

Seconds AxisTraffic::hidden() const {
  const Seconds left = seconds - exposed;
  return left.value > 1e-9 * seconds.value ? left : Seconds{};  // sums in different orders differ in their last digits
}

TrafficBytes traffic_of(const Evaluation& evaluation) {
  TrafficBytes traffic;
  for (const auto& collective : evaluation.collectives)
    part_of(traffic, collective.kind) += collective.bytes * collective.executions;
  return traffic;
}

std::vector<AxisTraffic> traffic_by_axes(const Evaluation& evaluation) {
  std::map<std::pair<CollectiveKind, AxisList>, AxisTraffic> sums;
  for (const auto& collective : evaluation.collectives) {
    const AxisList axes = in_mesh_order(collective.axes);  // groups of the same devices count them in one order or another
    AxisTraffic& sum = sums[{collective.kind, axes}];
    sum.kind = collective.kind;
    sum.axes = names_of(axes, evaluation.mesh);
    sum.executions += collective.executions;
    sum.bytes += collective.bytes * collective.executions;
    sum.seconds += collective.seconds;
    sum.exposed += collective.exposed;
  }
  std::vector<AxisTraffic> all;
  for (auto& [key, sum] : sums) all.push_back(std::move(sum));
  std::sort(all.begin(), all.end(), [](const AxisTraffic& a, const AxisTraffic& b) {
    return std::tuple(-a.bytes.value, a.kind, a.axes) < std::tuple(-b.bytes.value, b.kind, b.axes);
  });
  return all;
}

}  // namespace shardplan
