// The compute of each operation: FLOPs and HBM traffic of one device, forward and backward.
#include <algorithm>
#include <cost_models/partition/block_partitioner.hpp>

namespace shardplan {
namespace {

/// Keys that a query attends to on average. Causal: half the sequence; with a window w: w - w²/2S. A kernel that doesn't
/// skip masked blocks (dot_product) works on all of them.
double attended_keys(double sequence, double window, bool skips_masked) {
  if (!skips_masked) return sequence;
  if (window <= 0 || window >= sequence) return sequence / 2;
  return window - window * window / (2 * sequence);
}

bool has_dim(const Tensor& tensor, Dim dim) {
  return std::any_of(tensor.dims.begin(), tensor.dims.end(), [&](const TensorDim& d) { return d.dim == dim; });
}

}  // namespace

/// 2·b·h·s·keys·(qk dim + v dim): the two products of attention, on the queries that this device has.
double BlockPartitioner::attention_flops(const Operation& op) const {
  const TensorId query = op.inputs[0], value = op.inputs[2];
  const double heads_and_queries =
      static_cast<double>(local_elements(tensor(query).dims, attention_form(query), mesh_)) /
      static_cast<double>(tensor(query).dims.back().size);
  const double keys = attended_keys(static_cast<double>(program_.program->sequence),
                                    static_cast<double>(op.attention_window), config_.attention != "dot_product");
  return 2 * heads_and_queries * keys *
         static_cast<double>(tensor(query).dims.back().size + tensor(value).dims.back().size);
}

OperationWork BlockPartitioner::work_of(const Operation& op) const {
  OperationWork work;
  work.name = op.name;
  for (const TensorId input : op.inputs) work.forward_traffic += local(input);
  work.forward_traffic += local(op.output);
  work.backward_traffic = work.forward_traffic * 2;
  if (op.kind == OpKind::attention) {
    work.kind = WorkKind::attention;
    work.forward = {attention_flops(op)};
    work.backward = work.forward * 2.5;  // five products against two (recomputes the probabilities)
  }
  if (op.kind == OpKind::einsum) {
    const EinsumPlan plan = forward_plan(op);
    work.kind = WorkKind::matmul;
    work.forward_traffic = local_bytes(tensor(op.inputs[0]), plan.lhs, mesh_) +
                           local_bytes(tensor(op.inputs[1]), plan.rhs, mesh_) +
                           local_bytes(tensor(op.output), plan.result.spec, mesh_);
    const bool rows = has_dim(tensor(op.output), Dim::rows);
    const bool dense_ragged = rows && habits_.ragged_dot_is_dense && !config_.megablox;
    const double experts = static_cast<double>(tensor(op.inputs[1]).dims.front().size) /
                           static_cast<double>(mesh_.product(program_.expert_axes));
    const double share = !rows ? 1 : dense_ragged ? experts : block_.row_occupancy;
    work.forward = {plan.local_flops * share};
    work.backward = work.forward * 2;
    work.backward_traffic = work.forward_traffic * 2;
  }
  if (op.kind == OpKind::constrain) work.forward_traffic = work.backward_traffic = Bytes{0};
  return work;
}

}  // namespace shardplan
