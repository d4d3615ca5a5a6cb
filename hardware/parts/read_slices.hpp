#pragma once
// The "slices" part of a profile: a list of torus shapes with a rule for their names and wraparound links, or the chip
// counts of a node or a graph.
#include <formats/strict_json.hpp>
#include <shardplan/machine/hardware.hpp>

namespace shardplan {

/// The profile with `slices` (smallest first) and `topology_prefixes` filled in.
HardwareProfile with_slices(HardwareProfile profile, StrictObject object);

}  // namespace shardplan
