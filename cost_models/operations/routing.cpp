// Top-k routing of the dropping path: inputs {router logits} (SHARDING.md 2.5).
#include <cost_models/operations/operation_kinds.hpp>

namespace shardplan {
namespace {

AxisList token_axes(const BlockState& state, TensorId logits) {
  return in_mesh_order(state.split_axes(logits, {Dim::batch, Dim::sequence}));
}

/// Weights of all experts [batch, sequence, experts] are made of those of the chosen [batch, sequence, k] by a scatter, and
/// their gradient by a gather. XLA brings what is scattered together, or sums what each device scatters: the former where
/// there are many experts for each chosen. Recorded: 4 (Mixtral) are summed and their gradient gathered, 8 (Qwen3-Next,
/// Qwen3.5), 10.7 (DeepSeek2) and 16 (Qwen3) the other way round.
constexpr std::int64_t many_experts_for_each_chosen = 8;

bool has_many_experts(std::int64_t experts, std::int64_t chosen) {
  return experts >= many_experts_for_each_chosen * chosen;
}

class Routing final : public OperationKind {
 public:
  // Recorded: the scatter indices [batch, sequence, k, 3] and the expert counts are global integers, so they grow with
  // the global batch. 7x gathers what is scattered, however few experts there are.
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
    if (has_many_experts(dims[2].size, k) || state.compiler.has(Habit::lays_out_products_by_size))
      note(CollectiveKind::all_gather, all_tokens * k * 2, Cause::scatter_weights);
    else
      note(CollectiveKind::all_reduce, all_tokens * dims[2].size * 2, Cause::scatter_weights);
    note(CollectiveKind::all_gather, all_tokens * k * 4, Cause::expert_ids);
  }

  void backward(BlockState& state, const Operation& op) const override {
    const TensorId logits = op.inputs.front();
    const AxisList tokens = token_axes(state, logits);
    const auto& dims = state.tensor(logits).dims;
    const std::int64_t all_tokens = dims[0].size * dims[1].size, k = state.tensor(op.output).dims.back().size;
    const Move move = has_many_experts(dims[2].size, k)
                          ? Move{CollectiveKind::all_reduce, tokens, Bytes{all_tokens * k * 2}}
                          : Move{CollectiveKind::all_gather, tokens, state.local(logits) * state.mesh.product(tokens)};
    state.recorder.record(Phase::backward, move, {state.id_of(op), logits, Cause::routing_gradient}, RunCount::body);
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
