#include <algorithm>
#include <cost_models/blocks/late_gradients.hpp>
#include <cost_models/blocks/released_weights.hpp>
#include <cost_models/blocks/buffers/step_order.hpp>

namespace shardplan {
namespace {

bool is_normed_for_attention(const BlockState& state, const Operation& op, const Liveness& liveness) {
  const auto readers = state.flow().readers(op.output);
  return std::any_of(readers.begin(), readers.end(), [&](OperationId reader) {
    return state.block.operations[reader].kind == OpKind::normalization && liveness.recomputed[reader];
  });
}

}  // namespace

FarOperands far_operands(const BlockState& state, const Liveness& liveness) {
  const auto& operations = state.block.operations;
  FarOperands far{std::vector<bool>(operations.size()), std::vector<bool>(operations.size())};
  const bool several = shares_iteration(state.block, *state.program.program);
  for (const Operation& op : operations) {
    if (!state.is_weight_gradient_late(op)) continue;
    const OperationId id = state.id_of(op);
    far.inputs[id] = several || (is_query_projection(state.block, op) && is_normed_for_attention(state, op, liveness));
    far.gradients[id] = several && op.module == Module::mlp;
  }
  return far;
}

std::vector<bool> gathered_apart(const BlockState& state) {
  const bool merges_near = state.compiler.has(Habit::gathers_again_in_cycles) && runs_split_layer(state);
  if (!merges_near || !shares_iteration(state.block, *state.program.program)) return {};
  std::vector<bool> apart;
  for (const Operation& op : state.block.operations)
    apart.push_back(op.module == Module::mlp && op.kind == OpKind::einsum && !state.is_weight_gradient_late(op));
  return apart;
}

}  // namespace shardplan
