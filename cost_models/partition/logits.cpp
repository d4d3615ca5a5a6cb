#include <algorithm>
#include <cost_models/partition/logits.hpp>

namespace shardplan {
namespace {

bool is_capped(const Block& head, TensorId logits) {
  return std::any_of(head.operations.begin(), head.operations.end(), [&](const Operation& op) {
    return op.kind == OpKind::elementwise && op.inputs.front() == logits;
  });
}

/// Rows of the logits on one device.
std::int64_t local_tokens(const Tensor& logits, const PartitionSpec& spec, const Mesh& mesh) {
  const std::int64_t words = logits.dims.back().size / mesh.product(spec.dims.back());
  return local_elements(logits.dims, spec, mesh) / words;
}

}  // namespace

bool writes_over_logits(const Block& head, const std::vector<PartitionSpec>& specs, const Mesh& mesh,
                        const Compiler& compiler) {
  for (const Operation& op : head.operations) {
    const Tensor& logits = head.tensors[op.output];
    if (op.kind != OpKind::einsum || logits.dims.back().dim != Dim::vocab) continue;
    const std::int64_t embed = head.tensors[op.inputs.front()].dims.back().size;
    const Habit habit = is_capped(head, op.output) ? Habit::overwrites_capped_logits : Habit::overwrites_logits;
    return compiler.has(habit, local_tokens(logits, specs[op.output], mesh), embed);
  }
  return false;
}

}  // namespace shardplan
