#include <algorithm>
#include <cost_models/time/grouped/tokamax_tiles.hpp>

namespace shardplan {
namespace {

constexpr std::int64_t smallest_tile = 128, most_rows = 1024;
constexpr std::int64_t element = 2, buffers = 2, results = 3;  ///< bytes; of operands; of the result, one to add up in

std::int64_t deflated(std::int64_t size) { return std::max(size / 2 / smallest_tile * smallest_tile, smallest_tile); }

/// Halves `size` until the tile fits, down to 128.
template <class Fits>
void deflate(std::int64_t& size, Fits fits) {
  while (!fits() && size > smallest_tile) size = deflated(size);
}

struct Sizes {
  std::int64_t m, k, n;
};

std::int64_t count(double size) { return static_cast<std::int64_t>(size); }

Sizes whole(const MatrixShape& shape) { return {std::min(count(shape.m), most_rows), count(shape.k), count(shape.n)}; }

/// [m, k] times [k, n]: made smaller in the dims of the result, in the contracted one last.
Sizes fitted(Sizes tile, std::int64_t memory) {
  const auto fits = [&] {
    return (tile.m * tile.k + tile.k * tile.n) * element * buffers + results * tile.m * tile.n * element <= memory;
  };
  deflate(tile.m, fits);
  deflate(tile.n, fits);
  deflate(tile.k, fits);
  return tile;
}

/// The weights' gradient contracts rows: [k, m] times [m, n].
Sizes fitted_gradient(const Sizes& whole, std::int64_t memory) {
  const Sizes tile = fitted({whole.k, whole.m, whole.n}, memory);
  return {tile.k, tile.m, tile.n};
}

bool is_of(const TunedTiles& tuned, const MatrixShape& shape) {
  return tuned.rows == count(shape.m) && tuned.contracted == count(shape.k) && tuned.columns == count(shape.n) &&
         tuned.groups == count(shape.groups);
}

GroupedTile tile_of(const std::array<std::int64_t, 3>& sizes) { return {sizes[0], sizes[1], sizes[2]}; }

}  // namespace

GroupedTiles tokamax_tiles(const MatrixShape& shape, const GroupedKernels& kernels) {
  for (const TunedTiles& tuned : kernels.tuned)
    if (is_of(tuned, shape))
      return {tile_of(tuned.forward), tile_of(tuned.input_gradient), tile_of(tuned.weight_gradient), true};
  const auto memory = static_cast<std::int64_t>(kernels.tile_memory.value);
  const Sizes product = fitted(whole(shape), memory), gradient = fitted_gradient(whole(shape), memory);
  return {{product.m, product.k, product.n}, {product.m, product.n, product.k}, {gradient.m, gradient.k, gradient.n}, true};
}

}  // namespace shardplan
