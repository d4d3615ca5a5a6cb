#include <algorithm>
#include <planner/evaluate/mesh_place.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

MeshEmbedding embedding_of(const Configuration& c, std::optional<Infeasible>& misfit) {
  auto embedded = embed(c.hardware, c.slice, c.mesh, device_order(c.config));
  if (auto* whole = std::get_if<MeshEmbedding>(&embedded)) return std::move(*whole);
  misfit = std::get<Infeasible>(embedded);
  auto split = embed(c.hardware, c.slice, c.mesh, {.allow_split_physical_axes = true});
  if (auto* parts = std::get_if<MeshEmbedding>(&split)) return std::move(*parts);
  throw InputError("mesh " + describe(c.mesh) + ": " + std::get<Infeasible>(split).message);
}

std::size_t hash_of(const Mesh& mesh) {
  std::size_t hash = 0;
  for (const MeshAxis& axis : mesh.axes) hash = (hash * 1000003 + static_cast<std::size_t>(axis.ici)) * 31 + axis.dcn;
  return hash;
}

}  // namespace

MeshPlace::MeshPlace(const Configuration& configuration) : embedding_(embedding_of(configuration, misfit_)) {}

const GroupNetwork& MeshPlace::network(const AxisList& axes, GroupSpan span) {
  const std::lock_guard lock(mutex_);
  for (const KnownNetwork& known : networks_)
    if (known.axes == axes && known.span == span) return known.network;
  return networks_.emplace_back(KnownNetwork{axes, span, embedding_.network(axes, span)}).network;
}

std::shared_ptr<MeshPlace> PlaceCache::place_of(const Configuration& c) {
  const std::size_t hash = hash_of(c.mesh);
  const DeviceOrder order = device_order(c.config);
  const auto find = [&]() -> std::shared_ptr<MeshPlace> {
    const auto [begin, end] = known_.equal_range(hash);
    const auto same = std::find_if(begin, end, [&](const auto& entry) {
      return entry.second.order == order && entry.second.mesh == c.mesh;
    });
    return same == end ? nullptr : same->second.place;
  };
  {
    const std::lock_guard lock(mutex_);
    if (auto known = find()) return known;
  }
  auto place = std::make_shared<MeshPlace>(c);
  const std::lock_guard lock(mutex_);
  if (auto known = find()) return known;  // made meanwhile
  if (known_.size() >= most) known_.clear();
  return known_.emplace(hash, Known{c.mesh, order, std::move(place)})->second.place;
}

}  // namespace shardplan
