#include <algorithm>
#include <hardware/network/mesh_embedding.hpp>
#include <planner/search/space/dense_expert_axis.hpp>

namespace shardplan {

std::optional<int> size_beside_chips(const HardwareProfile& hardware, const Slice& slice) {
  if (hardware.devices_per_chip == 1) return std::nullopt;
  int size = 1;
  for (const int dim : slice.torus)
    if (dim == hardware.devices_per_chip) size *= dim;
  return size == 1 ? std::nullopt : std::optional(size);
}

bool leaves_chips_to_another(const Mesh& mesh, const Configuration& base) {
  const auto embedded = embed(base.hardware, base.slice, mesh, device_order(base.config));
  const auto* place = std::get_if<MeshEmbedding>(&embedded);
  if (place == nullptr) return false;
  for (AxisId axis = 0; axis < mesh.axes.size(); ++axis) {
    const AxisTraits& traits = traits_of(mesh.axes[axis].role);
    if (place->is_on_chip(axis)) return !traits.takes_devices && traits.role != AxisRole::expert;
  }
  return false;
}

}  // namespace shardplan
