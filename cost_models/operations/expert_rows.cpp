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

}  // namespace shardplan
