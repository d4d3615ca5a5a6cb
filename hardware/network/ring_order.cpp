#include <algorithm>
#include <hardware/network/ring_order.hpp>

namespace shardplan {
namespace {

const DevicePath* path_on(const HardwareProfile& profile, const Slice& slice, int largest_axis) {
  for (const DevicePath& path : profile.device_paths) {
    const bool has_shape = std::find(path.shapes.begin(), path.shapes.end(), slice.torus) != path.shapes.end();
    if (has_shape && (!path.one_axis_only || largest_axis == slice.devices)) return &path;
  }
  return nullptr;
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
  const DevicePath* path = path_on(profile, slice, largest_axis);
  if (!path) return std::nullopt;
  const int length = static_cast<int>(path->positions.size());
  std::vector<DeviceCoordinates> order;
  for (int layer = 0; layer < slice.devices; layer += length)
    for (const int position : path->positions) order.push_back(coordinates_at(layer + position, profile, slice));
  return order;
}

}  // namespace shardplan
