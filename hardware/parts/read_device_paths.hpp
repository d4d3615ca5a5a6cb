#pragma once
// Where JAX lays the devices of small slices along a fixed path (network/ring_order.hpp).
#include <formats/strict_json.hpp>
#include <shardplan/machine/hardware.hpp>

namespace shardplan {

/// {"paths": [{"shapes": ["2x2"], "positions": [0, 1, 3, 2], "one_axis_only": false}], "source": "…"}.
/// Throws InputError on a shape that `profile` has no slice of, or positions that are no order of whole layers of it.
std::vector<DevicePath> read_device_paths(StrictObject object, const HardwareProfile& profile);

/// "4x4x8" → {4, 4, 8}; empty when it is not that.
std::vector<int> parse_shape(std::string_view text);

}  // namespace shardplan
