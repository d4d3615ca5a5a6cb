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

bool is_dense(Module module) {
  return module == Module::attention || module == Module::mlp || module == Module::shared_experts;
}

Apart behind_first_layer(const Block& block) {
  if (block.continues_cycle) return Apart::all;
  return block.layers_per_cycle > 1 ? Apart::behind_first : Apart::none;
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

ApartOperands gathered_apart(const BlockState& state, const Liveness& liveness) {
  const bool merges_near = state.compiler.has(Habit::gathers_again_in_cycles);
  if (!merges_near || (state.splits_features() && !runs_split_layer(state))) return {};
  if (!shares_iteration(state.block, *state.program.program)) return {};
  const std::vector<bool> leads_on = recomputed_for_next_layer(state.block, *state.program.program, liveness);
  ApartOperands apart;
  for (const Operation& op : state.block.operations) {
    const bool multiplies = op.kind == OpKind::einsum && is_dense(op.module) && !state.is_weight_gradient_late(op);
    const Apart usual = multiplies ? behind_first_layer(state.block) : Apart::none;
    apart.inputs.push_back(multiplies && leads_on[state.id_of(op)] ? Apart::all : usual);
    apart.gradients.push_back(usual);
  }
  return apart;
}

}  // namespace shardplan
