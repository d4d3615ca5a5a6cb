#include <cost_models/operations/expert_rows.hpp>

namespace shardplan {

PartitionSpec expert_rows_spec(const BlockState& state, const Operation& dispatch) {
  const TensorId tokens = dispatch.inputs.front();
  const AxisList& experts = state.program.expert_axes;
  PartitionSpec spec;
  spec.dims = {experts, in_mesh_order(without(state.split_axes(tokens, {Dim::batch, Dim::sequence}), experts)),
               state.split_axes(tokens, {Dim::embed, Dim::latent})};
  return spec;
}

void gather_tokens(BlockState& state, const Operation& dispatch, Pass pass) {
  const TensorId tokens = dispatch.inputs.front();
  state.forms.use(tokens, state.spec(tokens), pass, dispatch);
}

void settle_expert_rows(BlockState& state, const Operation& dispatch) {
  const TensorId tokens = dispatch.inputs.front();
  const AxisList sums = state.gradients.take_sums(dispatch.output);
  state.gradients.settle(dispatch.output);
  if (!sums.empty()) state.gradients.contribute(tokens, {state.spec(tokens), sums}, dispatch);
}

}  // namespace shardplan
