#include <cost_models/operations/operation_kind.hpp>
#include <cost_models/vector_work/vector_costs.hpp>

namespace shardplan {

PartitionSpec OperationKind::result_spec(const BlockState& state, const Operation& op) const {
  return state.aligned(op.inputs.front(), op.output);
}

OperationWork OperationKind::work(const BlockState& state, const Operation& op) const { return elementwise_work(state, op); }

Bytes operand_traffic(const BlockState& state, const Operation& op) {
  Bytes traffic = state.local(op.output);
  for (const TensorId input : op.inputs) traffic += state.local(input);
  return traffic;
}

void contribute_elementwise(BlockState& state, const Operation& op) {
  for (const TensorId input : op.inputs) {
    if (!state.tensor(input).differentiable) continue;
    Layout gradient{state.aligned(input, op.output), {}};
    for (const AxisId axis : axes_of(state.spec(op.output)))
      if (place_of(axis, gradient.spec) < 0) gradient.partial.push_back(axis);
    if (state.tensor(input).parameter)
      state.gradients.reduce_parameter(input, gradient, op);
    else
      state.gradients.contribute(input, gradient, op);
  }
}

void reduce_statistics(BlockState& state, const Operation& op, Phase phase) {
  const TensorId input = op.inputs.front();
  const bool over_heads = op.kind == OpKind::normalization && state.tensor(op.inputs[1]).dims.size() == 2;
  const AxisList axes =
      over_heads ? state.split_axes(input, {Dim::q_heads, Dim::kv_heads, Dim::head_dim})
                 : state.split_axes(input, {Dim::embed, Dim::vocab, Dim::mlp, Dim::q_rank, Dim::kv_rank, Dim::latent});
  if (axes.empty()) return;
  Tensor statistic = state.tensor(input);
  PartitionSpec spec = state.spec(input);
  statistic.dims.resize(statistic.dims.size() - (over_heads ? 2 : 1));
  spec.dims.resize(statistic.dims.size());
  statistic.dtype = DType::f32;
  state.recorder.record(phase, {CollectiveKind::all_reduce, axes, local_bytes(statistic, spec, state.mesh)},
                        {state.id_of(op), input, Cause::feature_statistics, {spec, axes}, spec},
                        RunCount::body);
}

}  // namespace shardplan
