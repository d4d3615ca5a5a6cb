#pragma once
// Where the mesh lies on the machine: its links and their rates (bytes/s of a device and direction), what each axis above
// 1 reaches on them, and where each device of a slice is.
#include <planner/report/json/json_values.hpp>

namespace shardplan {

/// Null where the links can't hold the mesh. `positions`, in mesh order, for slices of up to 512 devices: row-major over
/// the torus and the devices of a chip, or over nodes and the devices of a node. On a larger torus each axis has the
/// positions of the devices that it joins with the first one (`first_group`), up to 4,096.
OrderedJson json_network(const Configuration& configuration);

}  // namespace shardplan
