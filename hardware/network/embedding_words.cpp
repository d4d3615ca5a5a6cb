// Where a group of devices lies, in words.
#include <fmt/format.h>

#include <hardware/network/mesh_embedding.hpp>
#include <shardplan/error.hpp>
#include <string_view>

namespace shardplan {
namespace {

constexpr std::string_view dim_names = "xyz";

std::string describe_part(const DimPart& part, char dim) {
  if (part.stride > 1) return fmt::format("{} along {}, {} chips apart", part.size, dim, part.stride);
  if (part.closes) return fmt::format("ring of {} along {}", part.size, dim);
  if (part.size == 2) return fmt::format("2 along {}", dim);
  return fmt::format("line of {} along {} (no wraparound)", part.size, dim);
}

}  // namespace

std::string MeshEmbedding::describe_inside(const Members& members) const {
  switch (fabric_) {
    case FabricKind::switched:
      return fmt::format("{} through the node's switch", members.inside);
    case FabricKind::full_mesh:
      return fmt::format("{} with direct links to each other", members.inside);
    case FabricKind::graph:
      throw InternalError("groups on a graph have the words of their routes");
    case FabricKind::torus:
      break;
  }
  if (!path_.empty()) return fmt::format("{} along the device path of {}", members.inside, slice_.name);
  std::string text;
  for (std::size_t dim = 0; dim < slice_.torus.size(); ++dim)
    for (const DimPart& part : parts_on(members, dim))
      text += (text.empty() ? "" : ", ") + describe_part(part, dim_names[dim]);
  for (std::size_t axis = 0; axis < ici_.size(); ++axis)
    if (members.is_in[axis] && assignment_[axis][core_dim] > 1)
      text += (text.empty() ? "" : ", ") + std::string("both devices of a chip");
  return text;
}

std::string MeshEmbedding::describe(const Members& members, const std::string& inside) const {
  std::string text = fmt::format("{} devices: ", members.inside * members.outside);
  text += inside;
  if (members.outside == 1) return text;
  return text + fmt::format("{}across {} {}s", members.inside > 1 ? ", " : "", members.outside, joined_noun(fabric_));
}

}  // namespace shardplan
