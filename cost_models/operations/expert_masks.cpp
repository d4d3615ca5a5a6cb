#include <algorithm>
#include <cost_models/moves/reshard.hpp>
#include <cost_models/operations/expert_masks.hpp>
#include <shardplan/error.hpp>

namespace shardplan {

bool is_expert_rows(const Tensor& tensor) { return has(tensor, Dim::experts); }
bool is_mask(const Tensor& tensor) { return has(tensor, Dim::capacity) && has(tensor, Dim::sequence); }

bool is_combine(const BlockState& state, const Operation& op) {
  return is_mask(state.tensor(op.inputs[1])) && !is_expert_rows(state.tensor(op.output));
}

bool is_router(const BlockState& state, const Operation& op) {
  const Tensor& output = state.tensor(op.output);
  return op.kind == OpKind::einsum && output.dims.size() == 3 && has(output, Dim::sequence) && has(output, Dim::experts);
}

PartitionSpec natural_logits(const BlockState& state) {
  const auto& ops = state.block.operations;
  const auto router = std::find_if(ops.begin(), ops.end(), [&](const Operation& op) { return is_router(state, op); });
  if (router == ops.end()) throw InternalError("experts' masks of a block without a router");
  return state.product_plan(*router).result.spec;
}

void gather_dispatch_mask(BlockState& state, const Operation& op, Pass pass) {
  const TensorId mask = op.inputs[1];
  if (!state.masks.exist() || !is_mask(state.tensor(mask)) || !is_expert_rows(state.tensor(op.output))) return;
  state.recorder.record(BlockState::phase_of(pass),
                        {CollectiveKind::all_gather, state.masks.axes(state.specs()), state.local(mask)},
                        {state.id_of(op), mask, Cause::dispatch_mask_slices, {state.masks.spec, {}}, state.spec(mask)},
                        RunCount::body);
}

void exchange_mask_gradient(BlockState& state, const Operation& op) {
  const TensorId mask = state.masks.mask;
  PartitionSpec now = state.masks.spec;
  const AxisList sliced = state.masks.axes(state.specs());
  const AxisList of_experts = axes_of(state.tensor(mask), now, {Dim::experts});
  for (const Dim tokens : {Dim::batch, Dim::sequence}) {
    const AxisList moving = common(common(sliced, of_experts), state.split_axes(op.output, {tokens}));
    if (moving.empty()) continue;
    PartitionSpec next = without_axes(now, moving);
    next.dims[index_of(state.tensor(mask).dims, tokens)].append(moving);
    state.recorder.record(Phase::backward,
                          {CollectiveKind::all_to_all, moving, local_bytes(state.tensor(mask), now, state.mesh)},
                          {state.id_of(op), mask, Cause::activation_gradient_layout, {now, {}}, next}, RunCount::body);
    now = next;
  }
}

void gather_mask_gradient(BlockState& state, const Operation& op, const PartitionSpec& result_gradient) {
  const TensorId mask = state.masks.mask;
  const AxisList sliced = state.masks.axes(state.specs());
  state.forms.use_gradient(op.output, without_axes(result_gradient, sliced), op);
  state.recorder.record(Phase::backward, {CollectiveKind::all_gather, sliced, state.local(mask)},
                        {state.id_of(op), mask, Cause::activation_gradient_layout, {state.masks.spec, {}}, state.spec(mask)},
                        RunCount::body);
}

}  // namespace shardplan
