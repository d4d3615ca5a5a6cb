// Top-k routing of the dropping path: inputs {router logits} (SHARDING.md 2.5).
#include <cost_models/operations/operation_kinds.hpp>
#include <cost_models/operations/routed_tokens.hpp>

namespace shardplan {
namespace {

AxisList token_axes(const PartitionSpec& logits) {
  AxisList tokens = logits.dims[0];
  tokens.append(logits.dims[1]);
  return in_mesh_order(std::move(tokens));
}

/// Where masks are made in slices, so is all that they are made of (recorded: twelve programs under cp-as-ep, ep-as-cp,
/// shard-exp-on-fsdp and pipeline-large-moe, whose constraints split no tokens over expert).
const PartitionSpec& routed_layout(const BlockState& state, TensorId logits) {
  return state.masks.exist() ? state.masks.logits : state.spec(logits);
}

/// Where products are laid out by size nothing is brought to the constraint of the logits.
bool is_constrained_whole(const BlockState& state) {
  return state.masks.exist() && !state.compiler.has(Habit::lays_out_products_by_size);
}

/// Places in the experts' buffers are counted in order of all tokens of a sequence: the one-hot ids [batch, sequence * k,
/// experts] take the layout that a constraint gives their batch (MaxText layers/moe.py, generate_masks).
void gather_one_hot_ids(BlockState& state, const Operation& op, Pass pass) {
  const TensorId logits = op.inputs.front();
  const AxisList kept = token_axes(state.spec(logits)), sliced = without(token_axes(state.masks.logits), kept);
  const RoutedTokens routed = routed_tokens(state, op);
  const Bytes bytes{routed.places() * routed.experts / state.mesh.product(kept) * size_of(DType::pred)};
  state.recorder.record(BlockState::phase_of(pass), {CollectiveKind::all_gather, sliced, bytes},
                        {state.id_of(op), logits, Cause::expert_ids}, RunCount::body);
}

bool are_weights_gathered(const BlockState& state, const RoutedTokens& routed) {
  return routed.has_many_experts() || state.compiler.has(Habit::lays_out_products_by_size);
}

class Routing final : public OperationKind {
 public:
  OperationWork work(const BlockState& state, const Operation& op) const override {
    OperationWork work = OperationKind::work(state, op);
    const RoutedTokens routed = routed_tokens(state, op);
    add_scatters(work, state, routed, are_weights_gathered(state, routed),
                 state.mesh.product(token_axes(routed_layout(state, op.inputs.front()))));
    return work;
  }

  // Recorded: the scatter indices [batch, sequence, k, 3] and the expert counts are global integers, so they grow with
  // the global batch. 7x gathers what is scattered, however few experts there are.
  void forward(BlockState& state, const Operation& op, Pass pass) const override {
    const TensorId logits = op.inputs.front();
    const AxisList tokens = token_axes(routed_layout(state, logits));
    const RoutedTokens routed = routed_tokens(state, op);
    const std::int64_t of_chosen = routed.places();
    const auto note = [&](CollectiveKind kind, std::int64_t bytes, Cause cause) {
      state.recorder.record(BlockState::phase_of(pass), {kind, tokens, Bytes{bytes}}, {state.id_of(op), logits, cause},
                            RunCount::body);
    };
    note(CollectiveKind::all_gather, of_chosen * dims_of_place * size_of(DType::s32), Cause::scatter_indices);
    if (are_weights_gathered(state, routed))
      note(CollectiveKind::all_gather, of_chosen * routed.weight_size, Cause::scatter_weights);
    else
      note(CollectiveKind::all_reduce, routed.tokens * routed.experts * routed.weight_size, Cause::scatter_weights);
    note(CollectiveKind::all_gather, of_chosen * size_of(DType::s32), Cause::expert_ids);
    if (is_constrained_whole(state)) gather_one_hot_ids(state, op, pass);
  }

  void backward(BlockState& state, const Operation& op) const override {
    const TensorId logits = op.inputs.front();
    const AxisList tokens = token_axes(routed_layout(state, logits));
    const AxisList kept = token_axes(state.spec(logits));
    const RoutedTokens routed = routed_tokens(state, op);
    const Bytes of_chosen{routed.places() * routed.weight_size};
    const Move move = routed.has_many_experts()
                          ? Move{CollectiveKind::all_reduce, tokens, of_chosen}
                          : Move{CollectiveKind::all_gather, tokens, state.local(logits) * state.mesh.product(kept)};
    state.recorder.record(Phase::backward, move, {state.id_of(op), logits, Cause::routing_gradient}, RunCount::body);
    state.gradients.contribute(logits, {is_constrained_whole(state) ? state.masks.logits : state.spec(logits), {}}, op);
  }

  std::vector<Lifetime> buffers(const BlockState& state, const Schedule& schedule, OperationId id) const override {
    return whole_routing(state, schedule, id);
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
