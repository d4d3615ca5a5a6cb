#include <algorithm>
#include <cstdlib>
#include <hardware/network/link_loads.hpp>

namespace shardplan {

LinkLoads::LinkLoads(const Slice& slice) : chip_links_(slice.chips * 6U), die_links_(slice.chips * 2U) {
  std::copy(slice.torus.begin(), slice.torus.end(), extents_.begin());
  std::copy(slice.wraps.begin(), slice.wraps.end(), wraps_.begin());
}

std::size_t LinkLoads::chip_at(const DeviceCoordinates& at) const {
  return static_cast<std::size_t>((at[2] * extents_[1] + at[1]) * extents_[0] + at[0]);
}

void LinkLoads::walk(DeviceCoordinates at, std::size_t dim, int steps, double bytes) {
  const int step = steps < 0 ? -1 : 1;
  for (int taken = 0; taken < std::abs(steps); ++taken) {
    chip_links_[chip_at(at) * 6 + dim * 2 + (step > 0 ? 0 : 1)] += bytes;
    at[dim] = (at[dim] + step + extents_[dim]) % extents_[dim];
  }
}

void LinkLoads::send(const DeviceCoordinates& from, const DeviceCoordinates& to, double bytes) {
  DeviceCoordinates at = from;
  if (from[3] != to[3]) die_links_[chip_at(at) * 2 + static_cast<std::size_t>(from[3])] += bytes;
  for (std::size_t dim = 0; dim < extents_.size(); ++dim) {
    const int extent = extents_[dim], ahead = (to[dim] - at[dim] + extent) % extent, behind = ahead - extent;
    const int direct = to[dim] - at[dim];
    const bool tie = wraps_[dim] && ahead == -behind;
    if (tie) walk(at, dim, ahead, bytes / 2), walk(at, dim, behind, bytes / 2);
    if (!tie) walk(at, dim, !wraps_[dim] ? direct : ahead < -behind ? ahead : behind, bytes);
    at[dim] = to[dim];
  }
}

double LinkLoads::busiest(const LinkRates& rates) const {
  const double chip_seconds = *std::max_element(chip_links_.begin(), chip_links_.end()) / rates.chip_to_chip;
  if (rates.die_to_die == 0) return chip_seconds;
  return std::max(chip_seconds, *std::max_element(die_links_.begin(), die_links_.end()) / rates.die_to_die);
}

namespace {

// All-gather: each member passes everything it has to both neighbours of the ring, half of the bytes each way.
double ring_rate(const Slice& slice, const DeviceGroups& groups, const LinkRates& rates) {
  LinkLoads loads(slice);
  for (const auto& group : groups)
    for (std::size_t i = 0; i < group.size(); ++i) {
      const auto& next = group[(i + 1) % group.size()];
      loads.send(group[i], next, 0.5);
      loads.send(next, group[i], 0.5);
    }
  return 1 / loads.busiest(rates);
}

double exchange_rate(const Slice& slice, const DeviceGroups& groups, const LinkRates& rates) {
  LinkLoads loads(slice);
  const double n = static_cast<double>(groups.front().size());
  for (const auto& group : groups)
    for (const auto& from : group)
      for (const auto& to : group)
        if (from != to) loads.send(from, to, 1 / n);
  return (n - 1) / n / loads.busiest(rates);
}

double shift_rate(const Slice& slice, const DeviceGroups& groups, const LinkRates& rates) {
  LinkLoads loads(slice);
  for (const auto& group : groups)
    for (std::size_t i = 0; i < group.size(); ++i) loads.send(group[i], group[(i + 1) % group.size()], 1);
  return 1 / loads.busiest(rates);
}

}  // namespace

GroupRates routed_rates(const Slice& slice, const DeviceGroups& groups, const LinkRates& rates) {
  const int size = static_cast<int>(groups.front().size());
  return {size, ring_rate(slice, groups, rates), exchange_rate(slice, groups, rates), shift_rate(slice, groups, rates),
          size};
}

}  // namespace shardplan
