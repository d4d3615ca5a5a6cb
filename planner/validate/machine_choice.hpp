#pragma once
// The machine of a recorded program or a measured run: {"name": "tpu-v5p", "chips": 8, "slices": 1}.
#include <arguments/machine_arguments.hpp>
#include <formats/strict_json.hpp>

namespace shardplan {

/// Throws InputError that names file and place.
MachineChoice machine_in(StrictObject object);

}  // namespace shardplan
