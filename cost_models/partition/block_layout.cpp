#include <cost_models/partition/block_layout.hpp>

namespace shardplan {
namespace {

/// An axis that a constraint names twice, which JAX refuses (constraint dispatch_names_axis_twice), splits the first of its
/// dims: counts of such a run are shown beside the reason why it doesn't start.
PartitionSpec with_each_axis_once(PartitionSpec spec) {
  AxisList taken;
  for (AxisList& axes : spec.dims) {
    axes = without(axes, taken);
    taken.append(axes);
  }
  return spec;
}

bool may_name_axis_twice(const Tensor& tensor) { return tensor.constraint.peel == Peel::experts_from_batch; }

}  // namespace

BlockLayout::BlockLayout(const BoundBlock& bound)
    : flow(*bound.block),
      specs(bound.specs.size()),
      products(bound.block->operations.size()),
      gradients(2 * bound.block->operations.size()) {
  for (std::size_t i = 0; i < specs.size(); ++i)
    if (bound.specs[i])
      specs[i] = may_name_axis_twice(bound.block->tensors[i]) ? with_each_axis_once(*bound.specs[i]) : *bound.specs[i];
}

}  // namespace shardplan
