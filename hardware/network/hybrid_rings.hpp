#pragma once
// MaxText's custom_mesh (utils/max_utils.py, reshape_mesh_to_rings): a grid of 16 x 16 devices cut into rings of 2x2 or
// 2x4, one axis of the mesh along the rings and one from ring to ring. Neighbours of the small axis share a link; those
// of the large one are 2 or 4 devices apart.
#include <hardware/network/ring_order.hpp>
#include <shardplan/mesh/mesh.hpp>
#include <vector>

namespace shardplan {

/// Devices along a ring.
int ring_size(CustomMesh custom);

/// Whether MaxText takes the order for the mesh: one axis along the rings, one over them, no third inside a slice.
bool suits_hybrid_rings(CustomMesh custom, const Mesh& mesh);

/// The devices of a slice in mesh order; `grid` has them as JAX lays out a mesh of 16 x 16.
std::vector<DeviceCoordinates> hybrid_rings(CustomMesh custom, const std::vector<DeviceCoordinates>& grid);

}  // namespace shardplan
