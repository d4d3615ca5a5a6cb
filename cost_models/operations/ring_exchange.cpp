// The ring of experts: tokens and router logits are all-gathered over the expert axes, each token's sum is
// reduce-scattered back (SHARDING.md 2.4). Dispatch reads {tokens, router logits}, or {tokens, weights, expert ids} of
// tokens that are routed before they move; the return {rows, router logits} or {rows, expert ids}.
#include <cost_models/operations/expert_rows.hpp>
#include <cost_models/operations/operation_kinds.hpp>
#include <cost_models/vector_work/routed_work.hpp>
#include <cost_models/vector_work/vector_costs.hpp>

namespace shardplan {
namespace {

void move_group(BlockState& state, const Operation& op, Phase phase, CollectiveKind kind, TensorId tensor,
                Cause cause) {
  const AxisList& axes = state.program.expert_axes;
  state.recorder.record(phase, {kind, axes, state.local(tensor) * state.mesh.product(axes)},
                        {state.id_of(op), tensor, cause}, RunCount::body);
}

/// Of one row for each token of the ring.
double ring_elements(const BlockState& state, TensorId tokens) {
  return vector_elements(state, tokens) * static_cast<double>(state.mesh.product(state.program.expert_axes));
}

class RingDispatch final : public OperationKind {
 public:
  PartitionSpec result_spec(const BlockState& state, const Operation& op) const override {
    return expert_rows_spec(state, op);
  }

  void settle(BlockState& state, const Operation& op) const override { settle_expert_rows(state, op); }

  void forward(BlockState& state, const Operation& op, Pass pass) const override {
    gather_tokens(state, op, pass);
    for (const TensorId input : op.inputs)
      move_group(state, op, BlockState::phase_of(pass), CollectiveKind::all_gather, input, Cause::ring_tokens);
  }

  void backward(BlockState& state, const Operation& op) const override {
    for (const TensorId input : op.inputs)
      if (state.tensor(input).differentiable)
        move_group(state, op, Phase::backward, CollectiveKind::reduce_scatter, input, Cause::ring_sum);
    state.gradients.contribute(op.inputs.front(), {state.spec(op.inputs.front()), {}}, op);
  }

  OperationWork work(const BlockState& state, const Operation& op) const override {
    return routed_work(state, {ring_elements(state, op.inputs.front()), op.output, true, false});
  }

  /// Permutations come from the router.
  TensorIds read_by_gradient(const Block&, const Operation& op) const override {
    return {op.inputs.back()};
  }

  /// The rows' gradient goes back to the order of the tokens before it is summed over the ring: both orders exist.
  std::vector<Lifetime> buffers(const BlockState& state, const Schedule& schedule, OperationId id) const override {
    if (!state.compiler.has(Habit::keeps_unsorted_rows) || !schedule.has_backward(id)) return {};
    return {{"rows in order of arrival, gradient", state.local(state.block.operations[id].output),
             schedule.backward_begins[id], schedule.backward_ends[id]}};
  }
};

class RingReturn final : public OperationKind {
 public:
  void forward(BlockState& state, const Operation& op, Pass pass) const override {
    move_group(state, op, BlockState::phase_of(pass), CollectiveKind::reduce_scatter, op.output, Cause::ring_sum);
  }

  void backward(BlockState& state, const Operation& op) const override {
    move_group(state, op, Phase::backward, CollectiveKind::all_gather, op.output, Cause::ring_gradient);
    state.gradients.contribute(op.inputs.front(), {state.spec(op.inputs.front()), {}}, op);
  }

  OperationWork work(const BlockState& state, const Operation& op) const override {
    return routed_work(state, {ring_elements(state, op.output), op.inputs.front(), false, false});
  }

  /// A weighted sum reads rows and weights; of rows that carry their weights only where they go.
  TensorIds read_by_gradient(const Block& block, const Operation& op) const override {
    return block.tensors[op.inputs.back()].differentiable ? op.inputs : TensorIds{op.inputs.back()};
  }
};

}  // namespace

const OperationKind& ring_dispatch_kind() {
  static const RingDispatch kind;
  return kind;
}

const OperationKind& ring_return_kind() {
  static const RingReturn kind;
  return kind;
}

}  // namespace shardplan
