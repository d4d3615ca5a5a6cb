// Top-k routing of the dropping path: inputs {router logits} (SHARDING.md 2.5).
#include <cost_models/operations/operation_kinds.hpp>

namespace shardplan {
namespace {

AxisList token_axes(const BlockState& state, TensorId logits) {
  return in_mesh_order(state.split_axes(logits, {Dim::batch, Dim::sequence}));
}

class Routing final : public OperationKind {
 public:
  // Recorded: the scatter indices [batch, sequence, k, 3] and the expert counts are global integers, so they grow with
  // the global batch; the routing weights [batch, sequence, experts] are reduced after their scatter.
  void forward(BlockState& state, const Operation& op, Pass pass) const override {
    const TensorId logits = op.inputs.front();
    const AxisList tokens = token_axes(state, logits);
    const auto& dims = state.tensor(logits).dims;
    const std::int64_t all_tokens = dims[0].size * dims[1].size, k = state.tensor(op.output).dims.back().size;
    const auto note = [&](CollectiveKind kind, std::int64_t bytes, Cause cause) {
      state.recorder.record(BlockState::phase_of(pass), {kind, tokens, Bytes{bytes}}, {state.id_of(op), logits, cause},
                            RunCount::body);
    };
    note(CollectiveKind::all_gather, all_tokens * k * 3 * 4, Cause::scatter_indices);
    note(CollectiveKind::all_reduce, all_tokens * dims[2].size * 2, Cause::scatter_weights);
    note(CollectiveKind::all_gather, all_tokens * k * 4, Cause::expert_ids);
  }

  void backward(BlockState& state, const Operation& op) const override {
    const TensorId logits = op.inputs.front();
    const AxisList tokens = token_axes(state, logits);
    state.recorder.record(Phase::backward,
                          {CollectiveKind::all_gather, tokens, state.local(logits) * state.mesh.product(tokens)},
                          {state.id_of(op), logits, Cause::routing_gradient}, RunCount::body);
    state.gradients.contribute(logits, {state.spec(logits), {}}, op);
  }

  /// Permutations come from the router.
  TensorIds read_by_gradient(const Block&, const Operation& op) const override {
    return {op.inputs.back()};
  }
};

}  // namespace

const OperationKind& routing_kind() {
  static const Routing kind;
  return kind;
}

}  // namespace shardplan
