#pragma once
// On some small slices JAX does not assign dims at all: it lays the devices out along one fixed path and reshapes that
// to the mesh, whatever its axes (the device-kind handlers of jax/_src/mesh_utils.py, jax 0.12).
#include <array>
#include <optional>
#include <shardplan/machine/hardware.hpp>
#include <vector>

namespace shardplan {

/// x, y, z and core of a device, as JAX gives them. GPUs: node, rank in the node, 0, 0.
using DeviceCoordinates = std::array<int, 4>;

/// Coordinates of the devices along the path, or nothing where JAX assigns dims. `largest_axis` is the largest size in
/// the mesh: some slices get their path only when one axis takes all of it.
std::optional<std::vector<DeviceCoordinates>> ring_order(const HardwareProfile& profile, const Slice& slice,
                                                         int largest_axis);

}  // namespace shardplan
