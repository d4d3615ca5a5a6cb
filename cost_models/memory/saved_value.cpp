#include <algorithm>
#include <cost_models/layouts/tiles.hpp>
#include <cost_models/memory/saved_value.hpp>

namespace shardplan {
namespace {

std::int64_t on_device(const PartitionedBlock& block, TensorId id, Dim dim, const Mesh& mesh) {
  const Tensor& tensor = block.block->tensors[id];
  for (std::size_t i = 0; i < tensor.dims.size(); ++i)
    if (tensor.dims[i].dim == dim) return tensor.dims[i].size / mesh.product(block.specs()[id].dims[i]);
  return 1;
}

/// Whether a mask sums several experts' rows of several sequences.
bool is_combined_by_sequence(const PartitionedBlock& block, TensorId rows, const Mesh& mesh) {
  const auto readers = block.flow().readers(rows);
  return std::any_of(readers.begin(), readers.end(), [&](OperationId reader) {
    const Operation& op = block.block->operations[reader];
    return op.kind == OpKind::einsum && on_device(block, op.output, Dim::batch, mesh) > 1 &&
           on_device(block, op.inputs.back(), Dim::experts, mesh) > 1;
  });
}

}  // namespace

Bytes saved_bytes(const PartitionedBlock& block, TensorId value, const Mesh& mesh) {
  const Tensor& tensor = block.block->tensors[value];
  if (is_of_heads(tensor) && block.block->rematerialized) return {block.stored()[value] * size_of(tensor.dtype)};
  return local_bytes(tensor, block.specs()[value], mesh);
}

Bytes turned_stacks(const PartitionedBlock& block, const Mesh& mesh, const Compiler& compiler) {
  const Block& b = *block.block;
  Bytes all;
  if (!compiler.has(Habit::copies_stacked_parameters) || b.kind != BlockKind::layer || !b.rematerialized) return all;
  for (const TensorId saved : block.liveness.saved) {
    const OperationId maker = block.flow().maker(saved);
    if (maker < 0 || b.operations[maker].role != OperationRole::expert_output) continue;
    if (is_combined_by_sequence(block, saved, mesh)) all += saved_bytes(block, saved, mesh) * b.layers;
  }
  return all;
}

}  // namespace shardplan
