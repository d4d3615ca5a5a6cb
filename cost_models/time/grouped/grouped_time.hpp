#pragma once
// Seconds of a grouped product's kernel (megablox; tokamax' has the same grid) from its tiles:
//   max(steps · a tile on the matrix unit, traffic / HBM) + steps · grouped_kernels.step
// A row tile runs for each group that has rows in it: rows/tile + groups - 1. Traffic: a block is fetched again
// where the grid's next step needs another. Steps go over columns, row tiles, contracted dim (of the weight's gradient
// over columns, contracted dim, row tiles), so that a contracted dim of one tile keeps a group's weights and a tile's rows;
// of several both come again in each step. (tokamax _src/ops/ragged_dot/pallas_mosaic_tpu_kernel.py, MaxText
// kernels/megablox.)
#include <cost_models/partition/operation_work.hpp>
#include <shardplan/compiler/compiler.hpp>
#include <shardplan/machine/hardware.hpp>

namespace shardplan {

struct GroupedProduct {
  MatrixShape shape;  ///< m rows in all of `groups`, each group's multiplied by its own [k, n]
  GroupedTile tile;
  bool makes_weights = false;   ///< rows [m, k] and [m, n] to [groups, k, n]
  double operand_bytes = 2;     ///< of an element; results have two
  FlopsPerSecond rate;          ///< of the matrix unit at the peaks' clock
};

/// How many steps the kernel's grid has: 262,144 rows of 128 experts in tiles of 256 x 4096 x 1536, each an expert's whole
/// weight: 1024 + 127.
double grouped_steps(const GroupedProduct& product);

/// Bytes that its tiles bring over HBM.
Bytes grouped_traffic(const GroupedProduct& product);

/// On a machine with grouped_kernels. On a TPU 7x in its default power state those steps take
/// 1151 · (256·4096·1536·2 / 1008.8 TFLOP/s + 0.72 us) = 4.50 ms; 4.41 were measured.
Seconds grouped_time(const GroupedProduct& product, const HardwareProfile& hardware, const Compiler& compiler);

}  // namespace shardplan
