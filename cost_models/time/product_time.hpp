#pragma once
// Seconds of a matrix product from its shape. Where the machine has tables of the share of peak that products reach
// (hardware/profiles, `matmul_shares`: compiled for TPUs, whose compiler states cycles):
//   2·m·n·k·groups / (peak · share(m, n, k))
// the share interpolated between the table's sizes, linearly in their logarithms; beyond them it is that of the nearest.
// A dim smaller than the matrix unit fills it all the same. Elsewhere the roofline: max(flops / (peak · efficiency),
// traffic / HBM).
#include <cost_models/partition/operation_work.hpp>
#include <shardplan/compiler/compiler.hpp>
#include <shardplan/machine/hardware.hpp>

namespace shardplan {

/// The table for the VMEM that the compiler gives an operation's tiles: of limits, the nearest by ratio. Null without.
const ProductTable* product_table(const HardwareProfile& hardware, const Compiler& compiler, DType operands);

/// Of a table with the sizes 512 and 2048, halfway (1024) in one dim: the mean of both.
double share_of_peak(const ProductTable& table, const MatrixShape& shape);

/// What elementwise operations add to the products that they are fused with, of what they take alone: as compiled with the
/// VMEM of the table (`fused_share`, hardware/compiled/fused_products.py); 1 without tables.
double fused_share(const HardwareProfile& hardware, const Compiler& compiler);

/// How often a grouped product's kernel computes a row tile over rows without partial tiles: every group but one may end
/// inside a tile, which the next group then computes again. 8 groups, tiles of 512, 7,168 rows: 1 + 7·512/7168 = 1.5
/// (jax/experimental/pallas/ops/tpu/megablox: make_group_metadata).
double partial_tiles(const MatrixShape& rows);

}  // namespace shardplan
