#pragma once
// Where the mesh lies on the machine: its links and their rates (bytes/s of a device and direction), what each axis above
// 1 reaches on them, and where each device of a slice is.
#include <planner/report/json/json_values.hpp>

namespace shardplan {

/// Null where the links can't hold the mesh. `positions`, in mesh order, for slices of up to 512 devices: row-major over
/// the torus and the devices of a chip, or over nodes and the devices of a node.
OrderedJson json_network(const Configuration& configuration);

}  // namespace shardplan
