#include <algorithm>
#include <cost_models/operations/dense_ragged_dot.hpp>

namespace shardplan {
namespace {

std::int64_t local_experts(const BlockState& state, const Operation& op) {
  const Tensor& weight = state.tensor(op.inputs[1]);
  return weight.dims[index_of(weight.dims, Dim::experts)].size / state.mesh.product(state.program.expert_axes);
}

std::vector<OperationId> products_of_rows(const BlockState& state, TensorId rows) {
  std::vector<OperationId> products;
  for (const Operation& op : state.block.operations)
    if (is_dense_ragged_dot(state, op) && op.inputs.front() == rows) products.push_back(state.id_of(op));
  return products;
}

/// [R, g, k] of an operand [g, R, k]; with one expert the same bytes.
void add_transposed(std::vector<Lifetime>& all, const BufferName& name, Bytes expanded, std::int64_t experts, int step) {
  if (experts > 1 && step >= 0) all.push_back({name, expanded, step, step});
}

}  // namespace

bool is_dense_ragged_dot(const BlockState& state, const Operation& op) {
  return op.kind == OpKind::einsum && state.compiler.has(Habit::ragged_dot_is_dense) && !state.config.has_grouped_kernel() &&
         index_of(state.tensor(op.output).dims, Dim::rows) >= 0 &&
         index_of(state.tensor(op.inputs[1]).dims, Dim::experts) >= 0;
}

int weight_gradients_step(const BlockState& state, const Schedule& schedule, OperationId id) {
  int first = schedule.backward_begins[id];
  for (const OperationId other : products_of_rows(state, state.block.operations[id].inputs.front()))
    first = std::min(first, schedule.backward_begins[other]);
  return first;
}

int expands_operand(const BlockState& state, const Schedule& schedule, OperationId id) {
  int first = schedule.has_backward(id) ? weight_gradients_step(state, schedule, id) : schedule.forward[id];
  for (const OperationId other : products_of_rows(state, state.block.operations[id].inputs.front()))
    if (const int written = schedule.written(state.block, other); written >= 0) first = std::min(first, written);
  return first;
}

int plain_gradient_ends(const BlockState& state, const Schedule& schedule, OperationId id) {
  const TensorId result = state.block.operations[id].output;
  for (const Operation& op : state.block.operations) {
    const bool reads = std::find(op.inputs.begin(), op.inputs.end(), result) != op.inputs.end();
    if (reads && operation_kind(op.kind).works_in_place()) return schedule.backward_begins[state.id_of(op)] - 1;
  }
  return weight_gradients_step(state, schedule, id) - 1;
}

std::vector<Lifetime> expanded_operands(const BlockState& state, const Schedule& schedule, OperationId id) {
  const Operation& op = state.block.operations[id];
  const TensorId rows = op.inputs.front();
  const std::int64_t experts = local_experts(state, op);
  const Bytes operand = state.local(rows) * experts, result = state.local(op.output) * experts;
  const bool trains = schedule.has_backward(id);
  std::vector<Lifetime> all;
  add_transposed(all, {rows, ", expanded, transposed"}, operand, experts,
                 trains ? schedule.written(state.block, id) : schedule.forward[id]);
  if (products_of_rows(state, rows).front() == id) {
    const int first = expands_operand(state, schedule, id);
    all.push_back({{rows, ", expanded"}, operand, first, trains ? weight_gradients_step(state, schedule, id) : first});
  }
  if (!trains) return all;
  const int ends = schedule.backward_ends[id];
  all.push_back({{op.output, " gradient, expanded"}, result, weight_gradients_step(state, schedule, id), ends});
  add_transposed(all, {op.output, " gradient, expanded, transposed"}, result, experts, ends);
  return all;
}

}  // namespace shardplan
