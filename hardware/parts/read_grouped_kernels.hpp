#pragma once
// `grouped_kernels` of a profile: what steps of grouped products' kernels take, and the tiles that tokamax was tuned to.
#include <formats/strict_json.hpp>
#include <shardplan/machine/hardware.hpp>

namespace shardplan {

/// Throws InputError where a product is given twice, or a size is none.
GroupedKernels read_grouped_kernels(StrictObject object);

}  // namespace shardplan
