#include <cost_models/partition/whole_slice_sums.hpp>

namespace shardplan {

bool is_all_reduced(const AxisList& axes, const Mesh& mesh, const Compiler& compiler) {
  return compiler.has(Habit::all_reduces_over_whole_slices) && mesh.product(axes) == mesh.devices() &&
         mesh.devices() >= compiler.all_reduced_from_devices;
}

AxisList summed_shards(const PartitionSpec& weight, const AxisList& tokens) { return common(axes_of(weight), tokens); }

bool is_reduce_scattered(const PartitionSpec& weight, const AxisList& tokens, const Mesh& mesh, const Compiler& compiler) {
  const AxisList axes = summed_shards(weight, tokens);
  return !axes.empty() && !is_all_reduced(axes, mesh, compiler);
}

}  // namespace shardplan
