#pragma once
// Routes single messages over the links of a small torus and finds the busiest link: for groups that are no product of
// torus dims, and as the check of the closed forms in group_rates.hpp.
#include <hardware/network/group_rates.hpp>
#include <hardware/network/ring_order.hpp>
#include <shardplan/machine/hardware.hpp>
#include <vector>

namespace shardplan {

/// Bandwidths of the two kinds of links, bytes/s in each direction.
struct LinkRates {
  double chip_to_chip = 0;
  double die_to_die = 0;  ///< between the two devices of a chip; 0 where a chip is one device
};

class LinkLoads {
 public:
  explicit LinkLoads(const Slice& slice);

  /// A message takes the dims in order (x, y, z), the shorter way round, half each way on a tie; the other core of a
  /// chip is reached over the die-to-die link of the chip it starts on.
  void send(const DeviceCoordinates& from, const DeviceCoordinates& to, double bytes);

  /// Seconds until the busiest link is done.
  double busiest(const LinkRates& rates) const;

 private:
  void walk(DeviceCoordinates at, std::size_t dim, int steps, double bytes);
  std::size_t chip_at(const DeviceCoordinates& at) const;

  std::array<int, 3> extents_{1, 1, 1};
  std::array<bool, 3> wraps_{};
  std::vector<double> chip_links_;  ///< bytes on [chip][dim][direction]
  std::vector<double> die_links_;   ///< bytes on [chip][from core]
};

using DeviceGroups = std::vector<std::vector<DeviceCoordinates>>;

/// Rates of groups that are all busy with the same collective; rings run through the members in their order.
GroupRates routed_rates(const Slice& slice, const DeviceGroups& groups, const LinkRates& rates);

}  // namespace shardplan
