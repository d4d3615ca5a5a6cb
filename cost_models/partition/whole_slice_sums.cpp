#include <cost_models/partition/whole_slice_sums.hpp>

namespace shardplan {

bool is_all_reduced(const AxisList& axes, const Mesh& mesh, const Compiler& compiler) {
  return compiler.has(Habit::all_reduces_over_whole_slices) && mesh.product(axes) == mesh.devices() &&
         mesh.devices() >= compiler.all_reduced_from_devices;
}

}  // namespace shardplan
