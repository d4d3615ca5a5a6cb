#pragma once
// Where the combine of the dropping path reads its mask in slices, XLA makes both masks in slices, and so is the
// gradient of the combine's; who reads one whole gathers it (recorded).
#include <cost_models/layouts/layout.hpp>

namespace shardplan {

struct MaskSlices {
  TensorId mask = -1;  ///< the combine's; -1: masks have the layout of their constraint
  PartitionSpec spec;  ///< the slices, and the layout of its gradient
  /// Router logits as their product makes them: masks in slices are made of these, whatever the logits' constraint says.
  PartitionSpec logits;

  bool exist() const { return mask >= 0; }
  /// By which masks are made in slices, though no constraint says so; none where the combine reads its mask whole.
  AxisList axes(const std::vector<PartitionSpec>& specs) const;
};

}  // namespace shardplan
