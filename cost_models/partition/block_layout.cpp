#include <cost_models/partition/block_layout.hpp>

namespace shardplan {

BlockLayout::BlockLayout(const BoundBlock& bound)
    : flow(*bound.block),
      specs(bound.specs.size()),
      products(bound.block->operations.size()),
      gradients(bound.block->operations.size()) {
  for (std::size_t i = 0; i < specs.size(); ++i)
    if (bound.specs[i]) specs[i] = *bound.specs[i];
}

}  // namespace shardplan
