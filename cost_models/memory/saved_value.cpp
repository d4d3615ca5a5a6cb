#include <cost_models/layouts/tiles.hpp>
#include <cost_models/memory/saved_value.hpp>

namespace shardplan {

Bytes saved_bytes(const PartitionedBlock& block, TensorId value, const Mesh& mesh) {
  const Tensor& tensor = block.block->tensors[value];
  if (is_of_heads(tensor) && block.block->rematerialized) return {block.stored()[value] * size_of(tensor.dtype)};
  return local_bytes(tensor, block.specs()[value], mesh);
}

}  // namespace shardplan
