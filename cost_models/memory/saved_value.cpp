#include <algorithm>
#include <cost_models/layouts/tiles.hpp>
#include <cost_models/memory/saved_value.hpp>
#include <cost_models/memory/working_set.hpp>
#include <cost_models/partition/block_state.hpp>

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

/// What enters each iteration of a scan; where it is a loop, what enters each iteration of that.
std::int64_t saved_inputs(const Block& block) {
  if (block.own_loop) return block.layers;
  return block.continues_cycle ? 0 : block.layers / block.layers_per_cycle;
}

/// Whether it is counted among the gathered weights.
bool is_weight(const Block& block, TensorId tensor) {
  return std::any_of(block.operations.begin(), block.operations.end(), [&](const Operation& op) {
    return op.kind == OpKind::constrain && op.output == tensor && block.tensors[op.inputs.front()].parameter;
  });
}

/// Pipelines rematerialize one iteration at a time, keeping the input of every layer in it (policy names iteration_input
/// and decoder_layer_input).
std::int64_t layers_run(const Block& block, const PipelineShape& pipeline) {
  return block.in_pipeline ? pipeline.iterations() * pipeline.layers_per_stage : block.layers;
}

/// Through which a pipeline rotates its microbatches.
Bytes microbatch_buffers(const PartitionedBlock& block, const BoundProgram& program) {
  const PipelineShape& pipeline = program.program->pipeline;
  const TensorId input = block.block->input;
  const Bytes one = local_bytes(block.block->tensors[input], block.specs()[input], *program.mesh);
  return one * (2 + pipeline.microbatches / pipeline.stages + (pipeline.circular_storage() ? pipeline.microbatches : 0));
}

bool has_experts(const BoundProgram& program) {
  const auto& blocks = program.program->blocks;
  return std::any_of(blocks.begin(), blocks.end(), [](const Block& block) { return block.mixture; });
}

}  // namespace

Bytes saved_bytes(const PartitionedBlock& block, TensorId value, const Mesh& mesh) {
  const Tensor& tensor = block.block->tensors[value];
  const bool lies_in_order = is_of_heads(tensor) || index_of(tensor.dims, Dim::rows) >= 0;
  if (lies_in_order && block.block->rematerialized) return {block.stored()[value] * size_of(tensor.dtype)};
  return local_bytes(tensor, block.specs()[value], mesh);
}

std::vector<SavedValue> saved_values(const PartitionedBlock& block, const BoundProgram& program) {
  const Block& b = *block.block;
  std::vector<SavedValue> all;
  if (b.kind != BlockKind::layer || b.beside_scan) return all;
  for (const TensorId saved : block.liveness.saved) {
    if (b.tensors[saved].shared || is_weight(b, saved)) continue;
    const bool enters_scan = saved == b.input && !b.in_pipeline;
    const std::int64_t times = enters_scan ? saved_inputs(b) : layers_run(b, program.program->pipeline);
    all.push_back({saved, saved_bytes(block, saved, *program.mesh), times});
  }
  if (block.liveness.sent_late)
    for (const TensorId sent : block.liveness.offloaded)
      all.push_back({sent, saved_bytes(block, sent, *program.mesh), b.layers});
  return all;
}

Bytes saved_activations(const PartitionedBlock& block, const BoundProgram& program) {
  const Block& b = *block.block;
  if (b.kind != BlockKind::layer) return {};
  if (b.beside_scan) return waiting_values(block) * b.layers;
  Bytes all;
  for (const SavedValue& value : saved_values(block, program)) all += value.bytes * value.times;
  if (!b.rematerialized)  // no second gather: the first one's result waits
    all += block.gathered_weights * layers_run(b, program.program->pipeline);
  return b.in_pipeline ? all + microbatch_buffers(block, program) : all;
}

Bytes kept_lookup_mask(const PartitionedBlock& block, const BoundProgram& program, const Compiler& compiler) {
  const Block& b = *block.block;
  if (!compiler.has(Habit::keeps_lookup_masks) || b.kind != BlockKind::embedding || has_experts(program)) return {};
  for (const Operation& op : b.operations) {
    const TensorId ids = op.inputs.front(), table = op.inputs.back();
    const int words = index_of(b.tensors[table].dims, Dim::vocab);
    if (op.kind != OpKind::einsum || words < 0 || !block.specs()[table].dims[words].empty()) continue;
    const std::int64_t elements = local_elements(b.tensors[ids].dims, block.specs()[ids], *program.mesh);
    const Bytes mask{elements * size_of(DType::pred)};
    return mask < compiler.smallest_kept_mask ? Bytes{0} : mask;
  }
  return {};
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
