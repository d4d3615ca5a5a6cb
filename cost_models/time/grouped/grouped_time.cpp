#include <algorithm>
#include <cmath>
#include <cost_models/time/clock_share.hpp>
#include <cost_models/time/compute_time.hpp>
#include <cost_models/time/grouped/grouped_time.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

constexpr double register_width = 128;
constexpr double result_bytes = 2;

/// A tile in numbers, no larger than what it is cut of.
struct Grid {
  double row_tiles, rows, contracted, columns;  ///< tiles; of a tile
  double contracted_tiles, column_tiles;
};

Grid grid_of(const GroupedProduct& product) {
  const MatrixShape& shape = product.shape;
  Grid grid;
  grid.rows = std::min(static_cast<double>(product.tile.rows), shape.m);
  grid.contracted = std::min(static_cast<double>(product.tile.contracted), shape.k);
  grid.columns = std::min(static_cast<double>(product.tile.columns), shape.n);
  grid.row_tiles = shape.m / grid.rows + shape.groups - 1;
  grid.contracted_tiles = std::ceil(shape.k / grid.contracted);
  grid.column_tiles = std::ceil(shape.n / grid.columns);
  return grid;
}

double steps_of(const Grid& grid) { return grid.row_tiles * grid.contracted_tiles * grid.column_tiles; }

/// The last lanes of a tile that is none of whole registers are multiplied all the same.
double filled(double size) { return std::ceil(size / register_width) * register_width; }

}  // namespace

double grouped_steps(const GroupedProduct& product) {
  return product.shape.m > 0 ? steps_of(grid_of(product)) : 0;
}

// 1,000 rows of 2 groups with weights [100, 10] in one byte, tiles of 100 x 100 x 5: rows twice, weights once, results of
// two bytes once: 200,000 + 2,000 + 20,000. In tiles of 100 x 50 x 5 rows of 11 tiles twice, and weights for each of them.
Bytes grouped_traffic(const GroupedProduct& product) {
  const MatrixShape& shape = product.shape;
  if (shape.m <= 0) return {};
  const Grid grid = grid_of(product);
  const double weight = shape.k * shape.n, bytes = product.operand_bytes;
  double traffic = 0;
  if (product.makes_weights) {
    traffic = bytes * shape.m * (shape.k * grid.column_tiles + shape.n * grid.contracted_tiles) +
              result_bytes * shape.groups * weight;
  } else {
    const bool stays = grid.contracted_tiles == 1;
    const double rows = stays ? shape.m : grid.row_tiles * grid.rows;
    traffic = bytes * (rows * shape.k * grid.column_tiles + (stays ? shape.groups : grid.row_tiles) * weight) +
              result_bytes * shape.m * shape.n;
  }
  return Bytes{static_cast<std::int64_t>(traffic)};
}

Seconds grouped_time(const GroupedProduct& product, const HardwareProfile& hardware, const Compiler& compiler) {
  if (product.shape.m <= 0) return {};
  if (!hardware.grouped_kernels) throw InternalError("no grouped_kernels");
  const Grid grid = grid_of(product);
  const Flops tile{2 * grid.rows * filled(grid.contracted) * filled(grid.columns)};
  const Seconds multiplying = at_clock_of(hardware, compiler, tile / product.rate) * steps_of(grid);
  const Seconds beside{hardware.grouped_kernels->step.value * steps_of(grid)};
  return std::max(multiplying, traffic_time(grouped_traffic(product), hardware)) + beside;
}

}  // namespace shardplan
