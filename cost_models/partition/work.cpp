// The compute of each operation: FLOPs and HBM traffic of one device, forward and backward.
#include <algorithm>
#include <cost_models/partition/block_partitioner.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

/// Keys that a query attends to on average. Causal: half the sequence; with a window w: w - w²/2S. A kernel that
/// doesn't skip masked blocks (dot_product) works on all of them.
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

OperationWork BlockPartitioner::attention_work(const Operation& op) const {
  OperationWork work = unfused_work(op);
  work.kind = WorkKind::attention;
  work.forward = {attention_flops(op)};
  work.backward = work.forward * 2.5;  // five products against two (recomputes the probabilities)
  return work;
}

/// Share of the rows in an expert buffer that are multiplied: the balanced ones; or, where ragged_dot is computed
/// densely, all of them by every local expert.
double BlockPartitioner::computed_share(const Operation& op) const {
  if (!has_dim(tensor(op.output), Dim::rows)) return 1;
  if (!compiler_.has(Habit::ragged_dot_is_dense) || config_.megablox) return block_.row_occupancy;
  return static_cast<double>(tensor(op.inputs[1]).dims.front().size) /
         static_cast<double>(mesh_.product(program_.expert_axes));
}

/// 2·Π of the local sizes forward; backward one product of that size for each operand that has a gradient.
OperationWork BlockPartitioner::einsum_work(const Operation& op) const {
  const EinsumPlan plan = forward_plan(op);
  const std::int64_t gradients =
      std::count_if(op.inputs.begin(), op.inputs.end(), [&](TensorId input) { return tensor(input).differentiable; });
  OperationWork work;
  work.kind = WorkKind::matmul;
  work.forward = {plan.local_flops * computed_share(op)};
  work.forward_traffic = local_bytes(tensor(op.inputs[0]), plan.lhs, mesh_) +
                         local_bytes(tensor(op.inputs[1]), plan.rhs, mesh_) +
                         local_bytes(tensor(op.output), plan.result.spec, mesh_);
  work.backward = work.forward * static_cast<double>(gradients);
  work.backward_traffic = work.forward_traffic * gradients;
  return work;
}

/// A kernel of its own: inputs read, result written; the gradient reads and writes twice that.
OperationWork BlockPartitioner::unfused_work(const Operation& op) const {
  OperationWork work;
  for (const TensorId input : op.inputs) work.forward_traffic += local(input);
  work.forward_traffic += local(op.output);
  work.backward_traffic = work.forward_traffic * 2;
  return work;
}

/// XLA runs a chain of elementwise operations inside the kernel that produces the chain's main input: that tensor is
/// neither written nor read again, the result is written in its place. A residual add of three 100 B tensors moves
/// 300 - 2·100 = 100 B, the other operand. A mask made from small routing weights is still written in full.
OperationWork BlockPartitioner::elementwise_work(const Operation& op) const {
  Bytes main_input;
  for (const TensorId input : op.inputs)
    if (!tensor(input).parameter) main_input = std::max(main_input, local(input));
  OperationWork work = unfused_work(op);
  work.forward_traffic -= std::min(main_input, local(op.output)) * 2;
  work.backward_traffic = work.forward_traffic * 2;
  return work;
}

OperationWork BlockPartitioner::work_of(const Operation& op) const {
  switch (op.kind) {
    case OpKind::einsum:
      return einsum_work(op);
    case OpKind::attention:
      return attention_work(op);
    case OpKind::elementwise:
    case OpKind::add:
      return elementwise_work(op);
    case OpKind::constrain:
      return {};
    case OpKind::normalization:
    case OpKind::lookup:
    case OpKind::cross_entropy:
    case OpKind::routing:
    case OpKind::ragged_dispatch:
    case OpKind::ragged_return:
    case OpKind::ring_dispatch:
    case OpKind::ring_return:
      return unfused_work(op);
  }
  throw InternalError("unknown OpKind");
}

}  // namespace shardplan
