#include <algorithm>
#include <audit/group_axes.hpp>
#include <set>

namespace shardplan {
namespace {

std::vector<int> coordinates(int device, const Mesh& mesh) {
  std::vector<int> at(mesh.axes.size());
  for (std::size_t axis = at.size(); axis-- > 0;) {
    const int size = mesh.axes[axis].size();
    at[axis] = device % size;
    device /= size;
  }
  return at;
}

/// How many values each coordinate takes in a group.
std::vector<std::size_t> extents(const std::vector<int>& group, const Mesh& mesh) {
  std::vector<std::set<int>> values(mesh.axes.size());
  for (const int device : group) {
    const auto at = coordinates(device, mesh);
    for (std::size_t axis = 0; axis < at.size(); ++axis) values[axis].insert(at[axis]);
  }
  std::vector<std::size_t> counts;
  for (const auto& of_axis : values) counts.push_back(of_axis.size());
  return counts;
}

GroupFit fit_of(const std::vector<int>& group, const std::vector<std::size_t>& extent, const Mesh& mesh) {
  std::size_t grid = 1;
  bool whole = true;
  for (std::size_t axis = 0; axis < extent.size(); ++axis) {
    grid *= extent[axis];
    if (extent[axis] > 1 && extent[axis] != static_cast<std::size_t>(mesh.axes[axis].size())) whole = false;
  }
  if (grid != group.size()) return GroupFit::no_axes;
  return whole ? GroupFit::whole_axes : GroupFit::part_of_axes;
}

AxisList varying(const std::vector<char>& varies) {
  AxisList axes;
  for (std::size_t axis = 0; axis < varies.size(); ++axis)
    if (varies[axis]) axes.push_back(static_cast<AxisId>(axis));
  return axes;
}

void mark(const std::vector<std::size_t>& extent, std::vector<char>& varies) {
  for (std::size_t axis = 0; axis < extent.size(); ++axis)
    if (extent[axis] > 1) varies[axis] = 1;
}

/// The first group's extents are every group's, in a regular list.
GroupFit common_fit(const std::vector<std::vector<std::size_t>>& extents_of_groups, const ReplicaGroups& groups,
                    const Mesh& mesh) {
  if (groups.pairs) return GroupFit::permutation;
  for (const auto& extent : extents_of_groups)
    if (extent != extents_of_groups.front()) return GroupFit::no_axes;
  GroupFit worst = GroupFit::whole_axes;
  for (std::size_t i = 0; i < groups.groups.size(); ++i)
    worst = std::max(worst, fit_of(groups.groups[i], extents_of_groups[i], mesh));
  return worst;
}

}  // namespace

GroupAxes axes_of(const ReplicaGroups& groups, const Mesh& mesh) {
  std::vector<std::vector<std::size_t>> extents_of_groups;
  std::vector<char> varies(mesh.axes.size());
  for (const auto& group : groups.groups) {
    extents_of_groups.push_back(extents(group, mesh));
    mark(extents_of_groups.back(), varies);
  }
  return {varying(varies), common_fit(extents_of_groups, groups, mesh)};
}

}  // namespace shardplan
