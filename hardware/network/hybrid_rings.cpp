#include <algorithm>
#include <hardware/network/hybrid_rings.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

constexpr int grid_side = 16;
constexpr int ring_rows = 2;

}  // namespace

int ring_size(CustomMesh custom) {
  switch (custom) {
    case CustomMesh::none:
      return 1;
    case CustomMesh::hybrid_ring_64x4:
      return 4;
    case CustomMesh::hybrid_ring_32x8:
      return 8;
  }
  throw InternalError("unknown CustomMesh");
}

bool suits_hybrid_rings(CustomMesh custom, const Mesh& mesh) {
  std::vector<int> sizes;
  for (const MeshAxis& axis : mesh.axes)
    if (axis.ici > 1) sizes.push_back(axis.ici);
  std::sort(sizes.begin(), sizes.end());
  const int ring = ring_size(custom);
  return sizes == std::vector<int>{ring, grid_side * grid_side / ring};
}

std::vector<DeviceCoordinates> hybrid_rings(CustomMesh custom, const std::vector<DeviceCoordinates>& grid) {
  const int columns = ring_size(custom) / ring_rows;
  std::vector<DeviceCoordinates> order;
  const auto add = [&](int row, int column) {
    order.push_back(grid[static_cast<std::size_t>(row * grid_side + column)]);
  };
  for (int row = 0; row < grid_side; row += ring_rows)
    for (int first = 0; first < grid_side; first += columns) {
      for (int column = first; column < first + columns; ++column) add(row, column);
      for (int column = first + columns; column-- > first;) add(row + 1, column);
    }
  return order;
}

}  // namespace shardplan
