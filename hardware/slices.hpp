#pragma once
// Which slice a name or a chip count stands for.
#include <optional>
#include <shardplan/machine/hardware.hpp>
#include <string>

namespace shardplan {

struct NamedSlice {
  std::string profile;  ///< "tpu-v5p"
  Slice slice;
};

/// Empty where the machine has no slice of that name.
std::optional<Slice> find_slice(const HardwareProfile& profile, const std::string& name);

/// The slice behind MaxText's compile_topology: "v5p-16" is 2x2x2 = 8 chips of tpu-v5p; "h100-16" two nodes.
/// Throws InputError with the nearest names.
NamedSlice slice_named(const std::string& compile_topology);

/// The same of one machine. Throws InputError with the nearest names.
Slice slice_called(const HardwareProfile& profile, const std::string& name);

/// The slice of `chips` chips; of several shapes the most cubic one. GPUs: a node or a part of it, then whole nodes.
/// Throws InputError naming the nearest counts that the machine has.
Slice slice_of_chips(const HardwareProfile& profile, int chips);

}  // namespace shardplan
