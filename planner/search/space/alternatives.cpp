#include <map>
#include <planner/search/space/alternatives.hpp>
#include <tuple>
#include <utility>

namespace shardplan {
namespace {

/// The sizes of a mesh's axes, those of fsdp and fsdp_transpose, which continues it along another dim, as one.
std::vector<int> folded_sizes(const Mesh& mesh) {
  std::vector<int> sizes;
  for (const MeshAxis& axis : mesh.axes) sizes.push_back(axis.size());
  const auto fsdp = mesh.find("fsdp"), transpose = mesh.find("fsdp_transpose");
  if (fsdp && transpose) sizes[*fsdp] *= std::exchange(sizes[*transpose], 1);
  return sizes;
}

}  // namespace

void number_alternatives(std::vector<Parallelism>& parallelisms) {
  std::map<std::tuple<std::size_t, MoePath, std::vector<int>>, std::size_t> known;
  for (Parallelism& p : parallelisms)
    p.alternative = known.try_emplace({p.rules, p.moe_path, folded_sizes(p.mesh)}, known.size()).first->second;
}

bool is_alike(const Parallelism& a, const Parallelism& b) { return a.alternative == b.alternative; }

}  // namespace shardplan
