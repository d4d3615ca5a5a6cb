#include <algorithm>
#include <cost_models/layouts/tiles.hpp>
#include <cost_models/partition/logits.hpp>
#include <shardplan/rounding.hpp>

namespace shardplan {
namespace {

/// By the loss, under constraints or not.
bool is_read_by_loss(const Block& block, const DataFlow& flow, TensorId tensor) {
  const auto readers = flow.readers(tensor);
  return std::any_of(readers.begin(), readers.end(), [&](OperationId id) {
    const Operation& op = block.operations[id];
    return op.kind == OpKind::cross_entropy || (op.kind == OpKind::constrain && is_read_by_loss(block, flow, op.output));
  });
}

/// Whether what the loss reads is computed from them.
bool is_capped(const Block& head, const DataFlow& flow, TensorId logits) {
  return std::any_of(head.operations.begin(), head.operations.end(), [&](const Operation& op) {
    return is_part_of_loss(head, flow, op) && flow.origin(op.inputs.front()) == logits;
  });
}

/// The product that makes logits; null: the head has none.
const Operation* logits_product(const Block& head) {
  for (const Operation& op : head.operations)
    if (op.kind == OpKind::einsum && head.tensors[op.output].dims.back().dim == Dim::vocab) return &op;
  return nullptr;
}

std::int64_t embed_of(const Block& head, const Operation& product) {
  return head.tensors[product.inputs.front()].dims.back().size;
}

std::int64_t local_words(const Tensor& logits, const PartitionSpec& spec, const Mesh& mesh) {
  return local_size(logits.dims.back(), spec.dims.back(), mesh);
}

/// Whether shards of the gathered table are no whole tiles of rows: it is laid out anew before it is read.
bool gathers_part_tiles(const Block& head, const DataFlow& flow, const Operation& product,
                        const std::vector<PartitionSpec>& specs, const Mesh& mesh) {
  const TensorId table = flow.origin(product.inputs.back());
  const Tensor& tensor = head.tensors[table];
  for (std::size_t i = 0; i < tensor.dims.size(); ++i) {
    const std::int64_t shards = mesh.product(specs[table].dims[i]);
    if (tensor.dims[i].dim == Dim::embed && shards > 1 && tensor.dims[i].size % (sublanes * shards) != 0) return true;
  }
  return false;
}

HeadShare share_of_a_device(const Block& head, const Operation& product, const std::vector<PartitionSpec>& specs,
                            const Mesh& mesh) {
  const Tensor& logits = head.tensors[product.output];
  const PartitionSpec& spec = specs[product.output];
  HeadShare share;
  share.tokens = local_elements(logits.dims, spec, mesh) / local_words(logits, spec, mesh);
  share.embed = embed_of(head, product);
  for (std::size_t i = 0; i < logits.dims.size(); ++i)
    if (logits.dims[i].dim == Dim::batch) share.sequences = local_size(logits.dims[i], spec.dims[i], mesh);
  return share;
}

/// Of a compiler that has it for whole slices alone: whether all devices share the words. Then the all-reduce of the words'
/// parts of the value is combined with that of the gradients' norm, which comes last.
bool has_for_words(const Compiler& compiler, const PartitionSpec& logits, const Mesh& mesh) {
  const auto sizes = compiler.slice_sizes.find(Habit::computes_loss_value_late);
  if (sizes == compiler.slice_sizes.end()) return true;
  return mesh.product(logits.dims.back()) == mesh.devices() && sizes->second.has(mesh.devices());
}

}  // namespace

bool is_part_of_loss(const Block& block, const DataFlow& flow, const Operation& op) {
  return op.kind == OpKind::elementwise && is_read_by_loss(block, flow, op.output);
}

std::int64_t sequences_of_logits(const Block& head, const std::vector<PartitionSpec>& specs, const Mesh& mesh) {
  const Operation* product = logits_product(head);
  return product ? share_of_a_device(head, *product, specs, mesh).sequences : 0;
}

bool writes_over_logits(const Block& head, const DataFlow& flow, const std::vector<PartitionSpec>& specs, const Mesh& mesh,
                        const Compiler& compiler) {
  const Operation* product = logits_product(head);
  if (!product) return false;
  if (compiler.has(Habit::makes_loss_value_with_gradient)) return false;
  const Habit habit = is_capped(head, flow, product->output) ? Habit::overwrites_capped_logits : Habit::overwrites_logits;
  const HeadShare share = share_of_a_device(head, *product, specs, mesh);
  if (!compiler.has(habit, share)) return false;
  const bool is_relaid = product->scales_result && gathers_part_tiles(head, flow, *product, specs, mesh);
  return !is_relaid || compiler.has(Habit::overwrites_scaled_logits, share);
}

Bytes logits_for_loss_value(const Block& head, const DataFlow& flow, const std::vector<PartitionSpec>& specs,
                            const Mesh& mesh, const Compiler& compiler) {
  const Operation* product = logits_product(head);
  if (!product) return {};
  const bool gathers_weight = !without(axes_of(specs[product->inputs.back()]), specs[product->output].dims.back()).empty();
  const Habit habit = gathers_weight && is_capped(head, flow, product->output) ? Habit::computes_capped_loss_value_late
                                                                              : Habit::computes_loss_value_late;
  if (!compiler.has(habit)) return {};
  const Tensor& logits = head.tensors[product->output];
  const PartitionSpec& spec = specs[product->output];
  const std::int64_t words = local_words(logits, spec, mesh);
  if (words == logits.dims.back().size || words <= embed_of(head, *product)) return {};
  if (habit == Habit::computes_loss_value_late && (gathers_weight || !has_for_words(compiler, spec, mesh))) return {};
  return stored_bytes(logits, spec, mesh, compiler);
}

bool copies_waiting_logits(const Block& head, const DataFlow& flow, const std::vector<PartitionSpec>& specs,
                           const Mesh& mesh, const Compiler& compiler) {
  if (logits_for_loss_value(head, flow, specs, mesh, compiler).value == 0) return false;
  if (!writes_over_logits(head, flow, specs, mesh, compiler)) return true;
  const Operation& product = *logits_product(head);
  const HeadShare share = share_of_a_device(head, product, specs, mesh);
  const auto words = static_cast<double>(local_words(head.tensors[product.output], specs[product.output], mesh));
  const double size = words * static_cast<double>(share.tokens) / static_cast<double>(share.embed);
  return compiler.largest_waiting_logits > 0 && size > compiler.largest_waiting_logits;
}

}  // namespace shardplan
