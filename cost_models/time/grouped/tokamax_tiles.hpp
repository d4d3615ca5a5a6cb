#pragma once
// The tiles that tokamax' grouped kernel takes (_src/ops/ragged_dot/pallas_mosaic_tpu.py): those that its table of tuned
// products has for the shape; else the largest that fit a share of the device's VMEM, made smaller dim by dim.
#include <cost_models/partition/operation_work.hpp>
#include <shardplan/machine/hardware.hpp>

namespace shardplan {

/// Of a product of `shape`, m rows in all groups. With 24 MiB, 400,000 rows by [4096, 1536]: 128 x 4096 x 768, and for
/// the weights' gradient 1024 x 1024 x 1536.
GroupedTiles tokamax_tiles(const MatrixShape& shape, const GroupedKernels& kernels);

}  // namespace shardplan
