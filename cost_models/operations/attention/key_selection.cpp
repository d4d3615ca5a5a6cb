// Which keys each query attends to (MaxText layers/attention_mla.py: Indexer): inputs {queries [batch, query, heads, dim],
// keys [batch, key, dim], head weights [batch, query, heads]}. A key's score is the weighted sum over heads of what is
// positive of its products; the top k become a mask. No gradient passes it.
#include <cost_models/operations/operation_kinds.hpp>

namespace shardplan {
namespace {

class KeySelection final : public OperationKind {
 public:
  /// Heads that are split leave a part of each score's sum on every device.
  void forward(BlockState& state, const Operation& op, Pass pass) const override {
    const auto [query, key, weights] = operands(op);
    PartitionSpec queries = state.aligned(query, op.output), heads = state.aligned(weights, op.output);
    const AxisList split = state.split_axes(query, {Dim::q_heads});
    queries.dims[2] = heads.dims[2] = split;
    state.forms.use(query, queries, pass, op);
    state.forms.use(weights, heads, pass, op);
    state.forms.use(key, state.aligned(key, op.output), pass, op);
    if (split.empty()) return;
    state.recorder.record(BlockState::phase_of(pass), {CollectiveKind::all_reduce, split, scores(state, op)},
                          {state.id_of(op), op.output, Cause::contracted_dim_split, {state.spec(op.output), split},
                           state.spec(op.output)},
                          RunCount::body);
  }

  void backward(BlockState&, const Operation&) const override {}

  TensorIds read_by_gradient(const Block&, const Operation&) const override { return {}; }

  /// Products, their positive part and the sum over heads are one kernel (XLA:TPU); then the scores are sorted: read and
  /// written with their places, once.
  OperationWork work(const BlockState& state, const Operation& op) const override {
    const Tensor& query = state.tensor(op.inputs.front());
    const std::int64_t keys = state.tensor(op.output).dims.back().size;
    const std::int64_t products = local_elements(query.dims, state.spec(op.inputs.front()), state.mesh);
    OperationWork work;
    work.kind = WorkKind::matmul;
    work.forward = {2.0 * static_cast<double>(products / query.dims.back().size * (query.dims.back().size + 1) * keys)};
    work.forward_traffic = scores(state, op) * 4;
    return work;
  }

  /// jax.lax.top_k sorts whole rows: scores and places, before and after (recorded: the indexer compiled alone for v5p
  /// with libtpu 0.0.50.1; logits a head have no buffer).
  std::vector<Lifetime> buffers(const BlockState& state, const Schedule& schedule, OperationId id) const override {
    const Operation& op = state.block.operations[id];
    const int step = schedule.written_or(state.block, id, schedule.forward[id]);
    return {{"indexer scores and places, sorted", scores(state, op) * 4, step, step}};
  }

 private:
  struct Operands {
    TensorId query, key, weights;
  };
  static Operands operands(const Operation& op) { return {op.inputs[0], op.inputs[1], op.inputs[2]}; }

  /// float32, a query and key.
  static Bytes scores(const BlockState& state, const Operation& op) {
    return Bytes{local_elements(state.tensor(op.output).dims, state.spec(op.output), state.mesh) * size_of(DType::f32)};
  }
};

}  // namespace

const OperationKind& key_selection_kind() {
  static const KeySelection kind;
  return kind;
}

}  // namespace shardplan
