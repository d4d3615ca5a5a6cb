#include <cost_models/time/collective_time.hpp>
#include <planner/audit/price_traffic.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

// The program exists, so its mesh was accepted: axes may be split over torus dims.
MeshEmbedding embed_split(const Machine& machine, const Mesh& mesh) {
  auto embedding = embed(machine.hardware, machine.slice, mesh, {.allow_split_physical_axes = true});
  if (auto* whole = std::get_if<MeshEmbedding>(&embedding)) return std::move(*whole);
  throw InputError("mesh " + describe(mesh) + ": " + std::get<Infeasible>(embedding).message);
}

}  // namespace

LinkPrices::LinkPrices(const Machine& machine, const Mesh& mesh) : embedding_(embed_split(machine, mesh)) {}

Seconds LinkPrices::seconds_of(const Collective& collective) {
  const auto [place, is_new] = networks_.try_emplace(collective.axes);
  if (is_new) place->second = embedding_.network(collective.axes);
  Collective over_whole_axes = collective;
  over_whole_axes.group_size = place->second.size;
  return collective_time(over_whole_axes, place->second);
}

}  // namespace shardplan
