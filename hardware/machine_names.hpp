#pragma once
// Machines as people call them. The names beside a profile's own are its `aliases`; spelling doesn't count
// (shardplan/spelling.hpp).
#include <optional>
#include <shardplan/machine/hardware.hpp>
#include <string>

namespace shardplan {

/// "V5P" → "tpu-v5p", "h100-80GB" → "h100"; empty where no built-in machine is called so.
std::optional<std::string> profile_called(const std::string& name);

struct MachineName {
  std::string profile;         ///< a name, or the path of a file
  std::optional<Slice> slice;  ///< where the name says how much of the machine, as compile_topology does
};

/// "v5p-16" → 8 chips of tpu-v5p, "trillium-8" → 8 of tpu-v6e, "h100-16" → two nodes; "v5p" a machine without a size.
/// Anything else is left as it is, for load_profile to read or refuse. Throws InputError on a size that the machine has
/// no slice of ("v5p-15").
MachineName machine_called(const std::string& name_or_path);

/// For what is about a machine whatever its size. Throws InputError with the machine's own name where the name says one;
/// `flag` gave it.
void check_has_no_size(const std::string& flag, const std::string& name_or_path);

}  // namespace shardplan
