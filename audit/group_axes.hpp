#pragma once
// Device groups → mesh axes. Partition ids number the devices row-major over the mesh (jax.sharding.Mesh gives them to
// XLA in that order), so the axes of a group are those in which its members differ.
#include <audit/hlo/replica_groups.hpp>
#include <shardplan/mesh/mesh.hpp>

namespace shardplan {

enum class GroupFit : std::uint8_t {
  whole_axes,    ///< every group is a slice of the mesh along whole axes
  part_of_axes,  ///< along parts of axes: 2 of the 4 devices of an axis, say
  permutation,   ///< source-target pairs
  no_axes,       ///< members differ in several axes, but are no grid of them
};

struct GroupAxes {
  AxisList axes;  ///< in which members of some group differ, in mesh order
  GroupFit fit = GroupFit::whole_axes;
};

/// `mesh` has as many devices as the program.
GroupAxes axes_of(const ReplicaGroups& groups, const Mesh& mesh);

}  // namespace shardplan
