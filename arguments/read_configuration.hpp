#pragma once
// MaxText's own arguments → one checked configuration.
#include <arguments/machine_arguments.hpp>
#include <optional>
#include <shardplan/configuration.hpp>
#include <span>
#include <string>

namespace shardplan {

/// KEY=VALUE words as MaxText takes them, on a machine that they name (compile_topology) or that is chosen; MaxText's
/// defaults hold for the rest, a YAML file of MaxText keys may stand in for any of them. Throws InputError on anything
/// malformed, unknown, not modelled or contradictory, and on a mesh that is not the machine. Whether the run is
/// possible is another question (constraints.hpp).
Configuration read_configuration(std::span<const std::string> key_values, const MachineChoice& machine,
                                 const std::optional<std::string>& config_file);

}  // namespace shardplan
