#include <algorithm>
#include <cost_models/blocks/buffers/dropped_experts.hpp>
#include <cost_models/blocks/buffers/exchanged_experts.hpp>
#include <cost_models/blocks/buffers/step_order.hpp>
#include <cost_models/blocks/released_weights.hpp>

namespace shardplan {

DroppedExperts::DroppedExperts(const BlockState& state, const Schedule& schedule) : state_(state), block_(state.block) {
  if (!state.compiler.has(Habit::runs_expert_weight_gradients_last)) return;
  if (!block_.mixture || !block_.rematerialized || runs_split_layer(state)) return;
  for (const auto& op : block_.operations) {
    const OperationId id = state.id_of(op);
    const bool rows_of_masks = has(state.tensor(op.output), Dim::capacity) && !op.narrow && schedule.has_backward(id);
    if (op.role == OperationRole::expert_output && rows_of_masks) output_ = id;
    if (op.role == OperationRole::expert_projection) dispatch_ = state.flow().maker(op.inputs.front());
  }
  if (dispatch_ < 0 || !schedule.has_backward(dispatch_)) output_ = -1;
  late_ = output_ >= 0 && schedule.recomputed[output_] >= 0 && has_several_sequences() && projects_again(schedule) &&
          !shares_iteration(block_, *state.program.program);
}

/// Not where a policy saves what attention's products give, its output's last.
bool DroppedExperts::projects_again(const Schedule& schedule) const {
  bool again = false;
  for (const auto& op : block_.operations)
    if (op.module == Module::attention && op.kind == OpKind::einsum) again = schedule.recomputed[state_.id_of(op)] >= 0;
  return again;
}

bool DroppedExperts::runs_gradient_last(OperationId op) const {
  return output_ >= 0 && multiplies_experts(block_.operations[op]);
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
  if (output_ < 0 || !state_.compiler.overlap.asynchronous.has(CollectiveKind::reduce_scatter)) return all;
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
