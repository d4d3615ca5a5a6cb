#include <algorithm>
#include <cost_models/blocks/buffers/exchanged_experts.hpp>
#include <cost_models/blocks/buffers/step_order.hpp>
#include <cost_models/partition/products/ragged_dot.hpp>
#include <cost_models/blocks/released_weights.hpp>
#include <cost_models/layouts/tiles.hpp>
#include <shardplan/rounding.hpp>

namespace shardplan {

ExchangedExperts::ExchangedExperts(const BlockState& state, const Schedule& schedule, bool leaves_weights)
    : state_(state), block_(state.block), schedule_(schedule),
      leads_on_(leads_to_next_layer(state.block, *state.program.program)) {
  if (!leaves_weights || !state.compiler.has(Habit::runs_expert_weight_gradients_last) || !block_.rematerialized) return;
  if (state.mesh.product(state.program.expert_axes) <= 1 && !runs_split_layer(state)) return;
  if (is_ragged_dot_dense(state.compiler, state.config)) return;
  for (const auto& op : block_.operations) {
    const OperationId id = state.id_of(op);
    const bool dispatches = op.kind == OpKind::ragged_dispatch || op.kind == OpKind::ring_dispatch;
    if (dispatches && schedule.has_backward(id)) dispatch_ = id;
    if (op.role == OperationRole::expert_output) activation_ = state.flow().maker(op.inputs.front());
  }
}

bool multiplies_experts(const Operation& operation) {
  return operation.role == OperationRole::expert_projection || operation.role == OperationRole::expert_output;
}

bool ExchangedExperts::waits(OperationId op) const { return dispatch_ >= 0 && multiplies_experts(block_.operations[op]); }

int ExchangedExperts::gradients_end(OperationId op) const {
  return schedule_.backward_ends[waits(op) ? dispatch_ : op];
}

int ExchangedExperts::written(OperationId op) const {
  const int step = schedule_.written(block_, op);
  if (dispatch_ < 0 || step < 0 || leads_on_) return step;
  if (op == activation_) return schedule_.backward_begins[op];
  const bool output = block_.operations[op].role == OperationRole::expert_output;
  if (!output) return step;
  return schedule_.backward_begins[sums_beside_compute() ? op : dispatch_];
}

bool ExchangedExperts::sums_beside_compute() const {
  return state_.compiler.overlap.asynchronous.has(CollectiveKind::reduce_scatter);
}

std::optional<int> ExchangedExperts::last_step(TensorId tensor) const {
  if (dispatch_ < 0) return std::nullopt;
  const OperationId maker = state_.flow().maker(tensor);
  if (maker < 0) return std::nullopt;
  const OperationRole role = block_.operations[maker].role;
  if (role == OperationRole::expert_projection) return schedule_.backward_begins[activation_] - 1;
  if (role == OperationRole::expert_output && !leads_on_) return schedule_.backward_ends[dispatch_];
  return std::nullopt;
}

std::vector<Lifetime> ExchangedExperts::output_sent_back() const {
  if (dispatch_ < 0 || !sums_beside_compute() || runs_split_layer(state_)) return {};
  if (shares_iteration(block_, *state_.program.program)) return {};
  const Operation& dispatch = block_.operations[dispatch_];
  if (dispatch.kind != OpKind::ragged_dispatch || state_.mesh.product(state_.program.expert_axes) <= 1) return {};
  const bool again = std::ranges::any_of(block_.operations, [&](const Operation& op) {
    return op.role == OperationRole::expert_output && schedule_.recomputed[state_.id_of(op)] >= 0;
  });
  if (!again || !state_.compiler.has(Habit::keeps_unsorted_rows)) return {};
  return {{"rows in order of arrival", state_.local(dispatch.output), schedule_.backward_begins[dispatch_],
           schedule_.backward_ends[dispatch_]}};
}

std::vector<Lifetime> ExchangedExperts::rows_of_tokens() const {
  const std::int64_t k = block_.experts_per_token;
  if (dispatch_ < 0 || leads_on_ || !state_.compiler.has(Habit::pads_to_tiles) || k % sublanes == 0) return {};
  const Operation& dispatch = block_.operations[dispatch_];
  if (dispatch.kind != OpKind::ring_dispatch) return {};
  const Bytes rows{state_.local(dispatch.output).value / k * rounded_up(k, tile_height(k))};
  return {{"rows of each token", rows, schedule_.backward_begins[dispatch_], schedule_.backward_ends[dispatch_]}};
}

}  // namespace shardplan
