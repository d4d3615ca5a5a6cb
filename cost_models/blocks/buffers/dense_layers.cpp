#include <algorithm>
#include <cost_models/blocks/buffers/dense_layers.hpp>
#include <cost_models/blocks/buffers/step_order.hpp>
#include <cost_models/blocks/released_weights.hpp>
#include <cost_models/layouts/tiles.hpp>

namespace shardplan {
namespace {

bool is_dense_layer(const Block& block) { return block.kind == BlockKind::layer && !block.mixture; }

bool contains(const std::vector<TensorId>& all, TensorId tensor) {
  return std::find(all.begin(), all.end(), tensor) != all.end();
}

Bytes bytes_of(const BlockState& state, TensorId id) {
  return stored_bytes(state.tensor(id), state.spec(id), state.mesh, state.compiler);
}

/// The tensor itself, or what it is a constrained form of; -1: it is computed again.
TensorId stacked(const BlockState& state, const Liveness& liveness, TensorId operand) {
  for (const TensorId id : {operand, state.flow().origin(operand)})
    if (contains(liveness.saved, id) || contains(liveness.offloaded, id)) return id;
  return -1;
}

int iteration_begins(const BlockState& state, const Schedule& schedule) {
  int first = schedule.backward_begins.back();
  if (shares_iteration(state.block, *state.program.program)) return first;
  for (const int step : schedule.recomputed)
    if (step >= 0) first = std::min(first, step);
  return first;
}

}  // namespace

bool is_norm_made_where_read(const BlockState& state, const Operation& op) {
  if (!state.compiler.has(Habit::computes_norms_where_read) || op.kind != OpKind::normalization) return false;
  if (!is_dense_layer(state.block) || runs_split_layer(state)) return false;
  const auto readers = state.flow().readers(op.output);
  return !readers.empty() && std::all_of(readers.begin(), readers.end(), [&](OperationId reader) {
    const Operation& product = state.block.operations[reader];
    return product.kind == OpKind::einsum && product.module == Module::mlp;
  });
}

TensorId shares_gradient_of_sum(const BlockState& state, TensorId term) {
  if (!state.compiler.has(Habit::shares_gradients_of_sums) || runs_split_layer(state)) return -1;
  const auto readers = state.flow().readers(term);
  if (readers.size() != 1 || state.block.operations[readers.front()].kind != OpKind::add) return -1;
  for (const TensorId other : state.block.operations[readers.front()].inputs) {
    if (other == term || state.tensor(other).parameter || bytes_of(state, other) != bytes_of(state, term)) continue;
    if (state.flow().readers(other).size() > 1) return other;
  }
  return -1;
}

std::vector<Lifetime> cut_kernel_operands(const BlockState& state, const Schedule& schedule, const Liveness& liveness) {
  std::vector<Lifetime> all;
  if (!state.compiler.has(Habit::cuts_kernel_operands)) return all;
  if (!is_dense_layer(state.block) || !state.block.rematerialized || runs_split_layer(state)) return all;
  const int first = iteration_begins(state, schedule);
  for (const Operation& op : state.block.operations) {
    if (op.kind != OpKind::attention) continue;
    for (const TensorId operand : op.inputs)
      if (const TensorId id = stacked(state, liveness, operand); id >= 0)
        all.push_back({{id, ", cut out"}, bytes_of(state, id), first, schedule.backward_begins[state.id_of(op)]});
  }
  return all;
}

}  // namespace shardplan
