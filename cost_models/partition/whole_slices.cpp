#include <cost_models/partition/whole_slices.hpp>

namespace shardplan {
namespace {

bool concerns(Habit habit, const AxisList& axes, const Mesh& mesh, const Compiler& compiler) {
  if (!compiler.has(habit) || mesh.product(axes) != mesh.devices()) return false;
  const auto sizes = compiler.slice_sizes.find(habit);
  return sizes == compiler.slice_sizes.end() || sizes->second.has(mesh.devices());
}

}  // namespace

bool is_all_reduced(const AxisList& axes, const Mesh& mesh, const Compiler& compiler) {
  return concerns(Habit::all_reduces_over_whole_slices, axes, mesh, compiler);
}

AxisList summed_shards(const PartitionSpec& weight, const AxisList& tokens) { return common(axes_of(weight), tokens); }

bool is_reduce_scattered(const PartitionSpec& weight, const AxisList& tokens, const Mesh& mesh, const Compiler& compiler) {
  const AxisList axes = summed_shards(weight, tokens);
  return !axes.empty() && !is_all_reduced(axes, mesh, compiler);
}

std::vector<Collective> as_emitted(std::vector<Collective> collectives, const Mesh& mesh, const Compiler& compiler) {
  if (!compiler.has(Habit::gathers_whole_slices_by_all_reduce)) return collectives;
  for (Collective& c : collectives) {
    if (c.kind != CollectiveKind::all_gather || c.span != GroupSpan::whole) continue;
    if (!concerns(Habit::gathers_whole_slices_by_all_reduce, c.axes, mesh, compiler)) continue;
    c.kind = CollectiveKind::all_reduce;
    c.in_place_of_gather = true;
  }
  return collectives;
}

}  // namespace shardplan
