#include <algorithm>
#include <cost_models/blocks/buffers/dropped_experts.hpp>
#include <cost_models/blocks/buffers/exchanged_experts.hpp>
#include <cost_models/blocks/buffers/step_order.hpp>
#include <cost_models/blocks/released_weights.hpp>
#include <cost_models/layouts/tiles.hpp>
#include <cost_models/operations/expert_masks.hpp>

namespace shardplan {

DroppedExperts::DroppedExperts(const BlockState& state, const Schedule& schedule, Pressure pressure)
    : state_(state), block_(state.block), by_library_(state.compiler.has(Habit::writes_product_operands)) {
  if (!state.compiler.has(Habit::runs_expert_weight_gradients_last)) return;
  if (!block_.mixture || !block_.rematerialized || runs_split_layer(state)) return;
  for (const auto& op : block_.operations) {
    const OperationId id = state.id_of(op);
    const bool rows_of_masks = has(state.tensor(op.output), Dim::capacity) && !op.narrow && schedule.has_backward(id);
    if (op.role == OperationRole::expert_output && rows_of_masks) {
      output_ = id;
      activation_ = state.flow().maker(op.inputs.front());
    }
    if (op.role == OperationRole::expert_projection) dispatch_ = state.flow().maker(op.inputs.front());
  }
  if (dispatch_ < 0 || !schedule.has_backward(dispatch_)) output_ = -1;
  const bool again = output_ >= 0 && schedule.recomputed[output_] >= 0 && !shares_iteration(block_, *state.program.program);
  if (by_library_)
    late_ = again && pressure == Pressure::none;
  else
    late_ = again && state.compiler.has(Habit::recomputes_expert_output_last) && has_several_sequences() &&
            projects_again(schedule) && fit_one_kernel();
}

int DroppedExperts::masks_read_until(TensorId mask, const Schedule& schedule) const {
  if (!late_ || by_library_ || !is_mask(state_.tensor(mask)) || state_.masks.exist() || fills_lanes()) return -1;
  return schedule.backward_ends[dispatch_];
}

int DroppedExperts::late_work(const Schedule& schedule) const {
  return by_library_ ? schedule.backward_ends[activation_] + 1 : schedule.backward_ends[dispatch_];
}

std::vector<Lifetime> DroppedExperts::read_by_activation(const Schedule& schedule) const {
  if (output_ < 0 || !by_library_ || !has_several_sequences()) return {};
  const TensorId hidden = block_.operations[activation_].output;
  const int step = schedule.backward_begins[activation_];
  std::vector<Lifetime> all = {{{hidden, " gradient, beside those it is made into"}, state_.local(hidden), step, step}};
  if (writes_hidden_rows_twice())
    all.push_back({{hidden, ", not turned"}, state_.local(hidden), step, schedule.recomputed[output_]});
  return all;
}

bool DroppedExperts::makes_hidden_rows_with_gradients(const Schedule& schedule) const {
  if (!late_ || !state_.compiler.has(Habit::makes_hidden_rows_with_gradients)) return false;
  if (fills_lanes() || splits_experts()) return false;
  const auto& projections = block_.operations[activation_].inputs;
  return std::all_of(projections.begin(), projections.end(), [&](TensorId projection) {
    const OperationId maker = state_.flow().maker(projection);
    if (maker < 0 || schedule.recomputed[maker] < 0) return false;
    return block_.operations[maker].role == OperationRole::expert_projection;
  });
}

bool DroppedExperts::writes_over(TensorId projection, OperationId reader, const Schedule& schedule) const {
  if (output_ < 0 || reader != activation_ || by_library_) return false;
  if (!state_.compiler.has(Habit::overwrites_last_projection)) return false;
  const OperationId maker = state_.flow().maker(projection);
  return maker >= 0 && is_last_projection(maker) && schedule.recomputed[maker] >= 0;
}

bool DroppedExperts::is_last_projection(OperationId op) const {
  return activation_ >= 0 && block_.operations[op].output == block_.operations[activation_].inputs.back();
}

bool DroppedExperts::fit_one_kernel() const {
  constexpr Bytes addressed{std::int64_t{1} << 31};
  const TensorId hidden = block_.operations[activation_].output;
  return stored_bytes(state_.tensor(hidden), state_.spec(hidden), state_.mesh, state_.compiler) < addressed;
}

bool DroppedExperts::fills_lanes() const {
  const auto& dims = state_.tensor(block_.operations[activation_].output).dims;
  return dims[index_of(dims, Dim::experts)].size % lanes == 0;
}

bool DroppedExperts::splits_experts() const {
  const TensorId rows = block_.operations[activation_].output;
  return !state_.spec(rows).dims[index_of(state_.tensor(rows).dims, Dim::experts)].empty();
}

/// Not where a policy saves what attention's products give, its output's last.
bool DroppedExperts::projects_again(const Schedule& schedule) const {
  bool again = false;
  for (const auto& op : block_.operations)
    if (op.module == Module::attention && op.kind == OpKind::einsum) again = schedule.recomputed[state_.id_of(op)] >= 0;
  return again;
}

/// A scheduler that hides collectives behind any kernel (XLA:GPU's) leaves for that what is summed over devices; a library's
/// products in any case (of products by Triton wi_0's and wi_1's gradients that aren't summed run where the rows' gradient
/// has been made: mi355_mx_ep8_fix).
bool DroppedExperts::runs_gradient_last(OperationId op) const {
  if (output_ < 0 || !multiplies_experts(block_.operations[op])) return false;
  return by_library_ || !state_.compiler.overlap.one_in_flight || op == output_ || is_summed(op);
}

bool DroppedExperts::is_summed(OperationId op) const {
  const auto& collectives = state_.recorder.collectives();
  return std::any_of(collectives.begin(), collectives.end(), [&](const Collective& c) {
    return c.cause == Cause::weight_gradient && c.operation == op;
  });
}

bool DroppedExperts::has_several_sequences() const {
  const TensorId rows = block_.operations[output_].output;
  const auto& dims = state_.tensor(rows).dims;
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (dims[i].dim == Dim::batch) return dims[i].size > state_.mesh.product(state_.spec(rows).dims[i]);
  return false;
}

bool DroppedExperts::is_late_mask(TensorId value, OperationId reader) const {
  if (!late_) return false;
  const Operation& op = block_.operations[reader];
  return op.inputs.back() == value && state_.flow().origin(op.inputs.front()) == block_.operations[output_].output;
}

std::vector<Lifetime> DroppedExperts::sums_at_the_end(const Schedule& schedule, int end) const {
  std::vector<Lifetime> all;
  const bool beside_compute = state_.compiler.overlap.asynchronous.has(CollectiveKind::reduce_scatter);
  if (output_ < 0 || !beside_compute || !state_.compiler.has(Habit::sums_expert_gradients_together)) return all;
  for (const Collective& c : state_.recorder.collectives()) {
    if (c.cause != Cause::weight_gradient || c.operation < 0 || !runs_gradient_last(c.operation)) continue;
    const int made = schedule.backward_ends[c.operation];
    // Of shards that are made whole before they are sliced (recorded: three
    // gradients of deepseek216bx4_7x16_expert4_fsdp4_fix_shardexp_save_qkv_proj).
    if (c.kind == CollectiveKind::all_gather && made < end)
      all.push_back({{c.tensor, " gradient, gathered whole"}, c.bytes, made + 1, end});
    if (c.kind != CollectiveKind::all_reduce) continue;
    if (made < end) all.push_back({{c.tensor, " gradient, being summed"}, c.bytes, made + 1, end});
    all.push_back({{c.tensor, " gradient, summed"}, c.bytes, made, end});
  }
  return all;
}

}  // namespace shardplan
