#pragma once
// Where the links of a torus are: dimension-ordered routing needs no search.
#include <vector>

namespace shardplan {

/// Chips are numbered row-major, the last dim fastest; a chip's devices follow each other. Links as indices into
/// NetworkGraph::links.
struct TorusGrid {
  std::vector<int> extents;
  std::vector<bool> closed;  ///< whether the dim's last chip is linked to its first
  int devices_per_chip = 1;
  std::vector<int> steps;    ///< [chip][dim][ahead, behind]; -1: no link
  std::vector<int> leave;    ///< [device] to its chip's links; empty where a chip is one device
  std::vector<int> enter;    ///< [device] from them
  std::vector<int> siblings; ///< [device] to the other device of its chip

  int step(int chip, int dim, int direction) const {
    return steps[(chip * static_cast<int>(extents.size()) + dim) * 2 + (direction > 0 ? 0 : 1)];
  }
};

}  // namespace shardplan
