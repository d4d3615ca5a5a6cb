#include <hardware/network/graph/fabric_graphs.hpp>
#include <hardware/network/graph/group_traffic.hpp>
#include <hardware/network/routed_rates.hpp>

namespace shardplan {

NetworkGraph graph_of(const Slice& slice, const LinkRates& rates) {
  const LinkKind link{"link", {rates.chip_to_chip}, {}};
  TorusShape shape{slice.torus, slice.wraps, std::vector<LinkKind>(slice.torus.size(), link), std::nullopt};
  if (rates.die_to_die > 0) shape.die_to_die = LinkKind{"die", {rates.die_to_die}, {}};
  return torus_graph(shape);
}

namespace {

int device_at(const DeviceCoordinates& at, const TorusGrid& grid) {
  int chip = 0;
  for (std::size_t dim = 0; dim < grid.extents.size(); ++dim) chip = chip * grid.extents[dim] + at[dim];
  return chip * grid.devices_per_chip + at[3];
}

GraphGroups on_graph(const DeviceGroups& groups, const TorusGrid& grid) {
  GraphGroups devices;
  for (const auto& group : groups) {
    devices.emplace_back();
    for (const auto& at : group) devices.back().push_back(device_at(at, grid));
  }
  return devices;
}

}  // namespace

GroupRates routed_rates(const NetworkGraph& torus, const DeviceGroups& groups) {
  const GraphGroups members = on_graph(groups, *torus.grid);
  const int size = static_cast<int>(members.front().size());
  return {size, ring_rate(ring_traffic(torus, members, RingWay::both)),
          exchange_rate(exchange_traffic(torus, members), size), ring_rate(shift_traffic(torus, members)), size};
}

}  // namespace shardplan
