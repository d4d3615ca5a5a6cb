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
/// Qwen3.5), 10.7 (DeepSeek2) and 16 (Qwen3, on H100 too: qwen330ba3bx2_h100x8_fsdp8_dm) the other way round; where
/// between 4 and 8 it turns is not known.
constexpr std::int64_t many_experts_for_each_chosen = 8;

struct Routed {
  std::int64_t tokens;  ///< of all devices
  std::int64_t experts, chosen;
  std::int64_t weight_size;  ///< bytes
  bool has_many_experts() const { return experts >= many_experts_for_each_chosen * chosen; }
};

Routed routed_by(const BlockState& state, const Operation& op) {
  const auto& logits = state.tensor(op.inputs.front()).dims;  // [batch, sequence, experts]
  const Tensor& weights = state.tensor(op.output);
  return {logits[0].size * logits[1].size, logits[2].size, weights.dims.back().size, size_of(weights.dtype)};
}

class Routing final : public OperationKind {
 public:
  // Recorded: the scatter indices [batch, sequence, k, 3] and the expert counts are global integers, so they grow with
  // the global batch. 7x gathers what is scattered, however few experts there are.
  void forward(BlockState& state, const Operation& op, Pass pass) const override {
    const TensorId logits = op.inputs.front();
    const AxisList tokens = token_axes(state, logits);
    const Routed routed = routed_by(state, op);
    const std::int64_t of_chosen = routed.tokens * routed.chosen;
    const auto note = [&](CollectiveKind kind, std::int64_t bytes, Cause cause) {
      state.recorder.record(BlockState::phase_of(pass), {kind, tokens, Bytes{bytes}}, {state.id_of(op), logits, cause},
                            RunCount::body);
    };
    constexpr std::int64_t dims_of_weights = 3;
    note(CollectiveKind::all_gather, of_chosen * dims_of_weights * size_of(DType::s32), Cause::scatter_indices);
    if (routed.has_many_experts() || state.compiler.has(Habit::lays_out_products_by_size))
      note(CollectiveKind::all_gather, of_chosen * routed.weight_size, Cause::scatter_weights);
    else
      note(CollectiveKind::all_reduce, routed.tokens * routed.experts * routed.weight_size, Cause::scatter_weights);
    note(CollectiveKind::all_gather, of_chosen * size_of(DType::s32), Cause::expert_ids);
  }

  void backward(BlockState& state, const Operation& op) const override {
    const TensorId logits = op.inputs.front();
    const AxisList tokens = token_axes(state, logits);
    const Routed routed = routed_by(state, op);
    const Bytes of_chosen{routed.tokens * routed.chosen * routed.weight_size};
    const Move move = routed.has_many_experts()
                          ? Move{CollectiveKind::all_reduce, tokens, of_chosen}
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
