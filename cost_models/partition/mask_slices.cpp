#include <cost_models/partition/mask_slices.hpp>

namespace shardplan {

AxisList MaskSlices::axes(const std::vector<PartitionSpec>& specs) const {
  AxisList sliced;
  if (!exist()) return sliced;
  for (const AxisId axis : axes_of(spec))
    if (place_of(axis, specs[mask]) < 0) sliced.push_back(axis);
  return sliced;
}

}  // namespace shardplan
