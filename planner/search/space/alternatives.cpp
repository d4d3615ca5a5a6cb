#include <map>
#include <planner/search/space/alternatives.hpp>
#include <string>
#include <tuple>
#include <utility>

namespace shardplan {
namespace {

using AxisSizes = std::vector<std::pair<std::string, int>>;  // rule sets with and without a pipeline have other axes

/// The sizes of a mesh's axes, those of fsdp and fsdp_transpose, which continues it along another dim, as one.
AxisSizes folded_sizes(const Mesh& mesh) {
  AxisSizes sizes;
  for (const MeshAxis& axis : mesh.axes) sizes.emplace_back(axis.name, axis.size());
  const auto fsdp = mesh.find(AxisRole::fsdp), transpose = mesh.find(AxisRole::fsdp_transpose);
  if (fsdp && transpose) sizes[*fsdp].second *= std::exchange(sizes[*transpose].second, 1);
  return sizes;
}

}  // namespace

void number_alternatives(std::vector<Parallelism>& parallelisms) {
  std::map<std::tuple<std::size_t, MoePath, AxisSizes>, std::size_t> known;
  const Parallelism* last = nullptr;
  for (Parallelism& p : parallelisms) {
    if (last && p.place == last->place && p.moe_path == last->moe_path)
      p.alternative = last->alternative;
    else
      p.alternative = known.try_emplace({p.rules, p.moe_path, folded_sizes(p.mesh)}, known.size()).first->second;
    last = &p;
  }
}

bool is_alike(const Parallelism& a, const Parallelism& b) { return a.alternative == b.alternative; }

}  // namespace shardplan
