#pragma once
// How many slices or nodes of which size a number of chips is.
#include <optional>
#include <shardplan/machine/machine.hpp>

namespace shardplan {

/// `chips` chips of a machine.
///   Torus: as many slices as asked for, or the fewest that make the count (what crosses slices takes the data-center
///   network). Nodes: whole ones, or a part of one; `slices` asks for that many parts of a node where they are no larger
///   than it, and otherwise changes nothing, because several nodes are joined by the same network.
/// Throws InputError naming the nearest counts that can be made.
Machine machine_of(const HardwareProfile& profile, int chips, std::optional<int> slices);

}  // namespace shardplan
