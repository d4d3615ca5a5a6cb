#include <hardware/network/mesh_embedding.hpp>

namespace shardplan {

/// Along each dim the later axis is the minor one; along an axis the later dim.
DeviceCoordinates MeshEmbedding::coordinates_on_torus(int device) const {
  DeviceCoordinates at{};
  DimSizes stride{1, 1, 1, 1};
  for (std::size_t axis = ici_.size(); axis-- > 0;) {
    int index = device % ici_[axis];
    device /= ici_[axis];
    for (std::size_t dim = stride.size(); dim-- > 0;) {
      const int size = assignment_[axis][dim];
      at[dim] += index % size * stride[dim];
      index /= size;
      stride[dim] *= size;
    }
  }
  return at;
}

std::vector<DeviceCoordinates> MeshEmbedding::device_coordinates() const {
  if (!path_.empty()) return path_;
  std::vector<DeviceCoordinates> all;
  for (int device = 0; device < slice_.devices; ++device)
    all.push_back(ends_at_node(fabric_)
                      ? DeviceCoordinates{device / devices_per_node_, device % devices_per_node_, 0, 0}
                      : coordinates_on_torus(device));
  return all;
}

}  // namespace shardplan
