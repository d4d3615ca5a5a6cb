#include <algorithm>
#include <map>
#include <planner/compare/traffic.hpp>
#include <shardplan/collective/hidden.hpp>
#include <shardplan/error.hpp>
#include <tuple>

namespace shardplan {
namespace {

Bytes& part_of(TrafficBytes& traffic, TrafficClass part) {
  switch (part) {
    case TrafficClass::exchange:
      return traffic.all_to_all;
    case TrafficClass::gather:
      return traffic.gather;
    case TrafficClass::reduce:
      return traffic.reduce;
    case TrafficClass::shift:
      return traffic.permute;
  }
  throw InternalError("unknown TrafficClass");
}

}  // namespace

Seconds AxisTraffic::hidden() const { return hidden_of(seconds, exposed); }

TrafficBytes traffic_of(const Evaluation& evaluation) {
  TrafficBytes traffic;
  for (const auto& collective : evaluation.collectives)
    part_of(traffic, class_of(collective.kind)) += collective.moved();
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
    sum.bytes += collective.moved();
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
