#include <algorithm>
#include <hardware/network/ring_order.hpp>
#include <span>
#include <string_view>

namespace shardplan {
namespace {

using Path = std::span<const int>;

/// Positions in the order core, x, y, z (core varies fastest), listed along each path.
constexpr std::array path_2x2{0, 1, 3, 2};
constexpr std::array path_2x4{0, 1, 2, 3, 7, 6, 5, 4};  // meant for x=4; on x=2, y=4 it is no ring, and JAX keeps it
constexpr std::array path_4x4{0, 1, 2, 3, 7, 6, 5, 9, 10, 11, 15, 14, 13, 12, 8, 4};
constexpr std::array path_2x2x2{0, 1, 3, 2, 6, 7, 5, 4};
constexpr std::array path_2x2_two_cores{0, 1, 2, 3, 6, 7, 4, 5};

bool is_named(const HardwareProfile& profile, std::string_view prefix) {
  return std::find(profile.topology_prefixes.begin(), profile.topology_prefixes.end(), prefix) !=
         profile.topology_prefixes.end();
}

Path v5e_path(const Slice& slice, int largest_axis) {
  if (slice.torus == std::vector{2, 2}) return path_2x2;
  if (slice.devices == 8) return path_2x4;
  if (slice.torus == std::vector{4, 4} && largest_axis == slice.devices) return path_4x4;
  return {};
}

Path v5p_path(const Slice& slice) { return slice.torus == std::vector{2, 2, 2} ? Path(path_2x2x2) : Path(); }

/// One ring through each 2x2 layer, the layers stacked along z.
Path tpu_7x_path(const Slice& slice) {
  const bool layers_of_2x2 = slice.torus.size() == 3 && slice.torus[0] == 2 && slice.torus[1] == 2;
  return layers_of_2x2 && slice.devices <= 32 ? Path(path_2x2_two_cores) : Path();
}

Path path_on(const HardwareProfile& profile, const Slice& slice, int largest_axis) {
  if (is_named(profile, "v5e") || is_named(profile, "v6e")) return v5e_path(slice, largest_axis);
  if (is_named(profile, "v5p")) return v5p_path(slice);
  if (is_named(profile, "tpu7x")) return tpu_7x_path(slice);
  return {};
}

DeviceCoordinates coordinates_at(int position, const HardwareProfile& profile, const Slice& slice) {
  DeviceCoordinates at{0, 0, 0, position % profile.devices_per_chip};
  position /= profile.devices_per_chip;
  for (std::size_t dim = 0; dim < slice.torus.size(); ++dim) {
    at[dim] = position % slice.torus[dim];
    position /= slice.torus[dim];
  }
  return at;
}

}  // namespace

std::optional<std::vector<DeviceCoordinates>> ring_order(const HardwareProfile& profile, const Slice& slice,
                                                         int largest_axis) {
  const Path path = path_on(profile, slice, largest_axis);
  if (path.empty()) return std::nullopt;
  const int length = static_cast<int>(path.size());
  std::vector<DeviceCoordinates> order;
  for (int layer = 0; layer < slice.devices; layer += length)
    for (const int position : path) order.push_back(coordinates_at(layer + position, profile, slice));
  return order;
}

}  // namespace shardplan
