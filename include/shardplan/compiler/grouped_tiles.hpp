#pragma once
// Tiles of the kernels of grouped products (experts' rows, each group with its own weight).
#include <cstdint>

namespace shardplan {

/// What a step of a grouped kernel multiplies: rows by a part of a weight's contracted dim and of its columns.
struct GroupedTile {
  std::int64_t rows = 0, contracted = 0, columns = 0;
  bool operator==(const GroupedTile&) const = default;
};

/// Of the product, the gradient of its rows and that of its weights, whose tiles contract rows and have `contracted` of the
/// weight's first dim; without rows nobody knows them.
struct GroupedTiles {
  GroupedTile forward, input_gradient, weight_gradient;
  bool are_tuned = false;  ///< tokamax' own, which follow from the machine and the shapes
};

}  // namespace shardplan
