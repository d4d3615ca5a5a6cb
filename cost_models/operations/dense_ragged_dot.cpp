#include <algorithm>
#include <cost_models/operations/dense_ragged_dot.hpp>
#include <cost_models/vector_work/vector_costs.hpp>

namespace shardplan {
namespace {

std::vector<OperationId> products_of_rows(const BlockState& state, TensorId rows) {
  std::vector<OperationId> products;
  for (const Operation& op : state.block.operations)
    if (is_dense_ragged_dot(state, op) && op.inputs.front() == rows) products.push_back(state.id_of(op));
  return products;
}

/// [R, g, k] of an operand [g, R, k]; with one expert the same bytes.
void add_transposed(std::vector<Lifetime>& all, const BufferName& name, Bytes expanded, std::int64_t experts, int first,
                    int last) {
  if (experts > 1 && first >= 0) all.push_back({name, expanded, first, last});
}

/// What reads a product's rows and whose backward pass writes the copies of their gradient; -1: an exchange, which can't.
OperationId copying_activation(const BlockState& state, OperationId id) {
  for (const Operation& op : state.block.operations) {
    const bool reads = std::find(op.inputs.begin(), op.inputs.end(), state.block.operations[id].output) != op.inputs.end();
    if (reads && operation_kind(op.kind).works_in_place()) return state.id_of(op);
  }
  return -1;
}

/// When a layer's copies are written and read for weights' gradients.
class Copies {
 public:
  Copies(const BlockState& state, const Schedule& schedule) : state_(state), schedule_(schedule) {
    for (const Operation& op : state.block.operations)
      if (op.role == OperationRole::expert_projection) projection_ = state.id_of(op);
  }

  /// One kernel writes hidden rows and both projections' gradients, the backward pass of the activation.
  int written(OperationId id, int alone) const {
    if (!waits_for_projections(id)) return alone;
    const OperationId activation = copying_activation(state_, projection_);
    return activation >= 0 ? schedule_.backward_begins[activation] : projections();
  }

  int read_until(OperationId id) const {
    if (run_last()) return state_.forms.step();
    return waits_for_projections(id) ? projections() : weight_gradients_step(state_, schedule_, id);
  }

  /// Copies for the gradients of rows, of both projections at once.
  int turned(OperationId id) const {
    int first = schedule_.backward_ends[id];
    if (!state_.compiler.has(Habit::writes_product_operands)) return first;
    for (const OperationId other : products_of_rows(state_, state_.block.operations[id].inputs.front()))
      first = std::min(first, schedule_.backward_ends[other]);
    return first;
  }

  bool run_last() const {
    return state_.compiler.has(Habit::runs_expert_weight_gradients_last) &&
           state_.mesh.product(state_.program.expert_axes) == 1;
  }

 private:
  bool waits_for_projections(OperationId id) const {
    return state_.compiler.has(Habit::writes_product_operands) && projection_ >= 0 &&
           state_.block.operations[id].role == OperationRole::expert_output;
  }

  int projections() const { return weight_gradients_step(state_, schedule_, projection_); }

  const BlockState& state_;
  const Schedule& schedule_;
  OperationId projection_ = -1;  ///< -1: none
};

}  // namespace

bool is_dense_ragged_dot(const BlockState& state, const Operation& op) {
  return is_ragged_dot_dense(state.compiler, state.config) && is_ragged_dot(state.block, op);
}

void add_expanded_rows(OperationWork& work, const BlockState& state, const Operation& op) {
  const VectorCosts& costs = state.compiler.vector_kernels.of(VectorKernel::expanded_rows);
  const auto experts = static_cast<double>(local_experts(state.block, op, state.program));
  const auto add = [&](VectorWork& to, VectorCost cost, TensorId rows) {
    to += vector_work(cost, experts * vector_elements(state, rows), state.tensor(rows).dtype);
  };
  const bool turned = experts > 1;
  if (products_of_rows(state, op.inputs.front()).front() == state.id_of(op)) {
    add(work.vector_forward, costs.forward, op.inputs.front());
    if (turned) add(work.vector_backward, costs.backward, op.inputs.front());
  }
  add(work.vector_backward, costs.forward, op.output);
  if (turned) add(work.vector_backward, costs.backward, op.output);
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
  const OperationId activation = copying_activation(state, id);
  return (activation >= 0 ? schedule.backward_begins[activation] : weight_gradients_step(state, schedule, id)) - 1;
}

std::vector<Lifetime> expanded_operands(const BlockState& state, const Schedule& schedule, OperationId id) {
  const Operation& op = state.block.operations[id];
  const TensorId rows = op.inputs.front();
  const auto experts = static_cast<std::int64_t>(local_experts(state.block, op, state.program));
  const Bytes operand = state.local(rows) * experts, result = state.local(op.output) * experts;
  const bool trains = schedule.has_backward(id);
  const Copies copies(state, schedule);
  std::vector<Lifetime> all;
  const int multiplied = trains ? schedule.written(state.block, id) : schedule.forward[id];
  add_transposed(all, {rows, ", expanded, transposed"}, operand, experts, multiplied, multiplied);
  if (products_of_rows(state, rows).front() == id) {
    const int first = expands_operand(state, schedule, id);
    if (!trains) all.push_back({{rows, ", expanded"}, operand, first, first});
    if (trains) all.push_back({{rows, ", expanded"}, operand, copies.written(id, first), copies.read_until(id), false,
                               copies.run_last()});
  }
  if (!trains) return all;
  const int ends = schedule.backward_ends[id];
  const OperationId activation =
      state.compiler.has(Habit::writes_product_operands) ? copying_activation(state, id) : -1;
  const int begins = activation >= 0 ? schedule.backward_begins[activation] : weight_gradients_step(state, schedule, id);
  all.push_back({{op.output, " gradient, expanded"}, result, begins,
                 std::max(ends, copies.read_until(id)), false, copies.run_last()});
  add_transposed(all, {op.output, " gradient, expanded, transposed"}, result, experts, copies.turned(id), ends);
  return all;
}

}  // namespace shardplan
