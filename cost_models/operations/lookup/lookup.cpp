// The embedding: inputs {table, token ids} (SHARDING.md 3.1).
#include <cost_models/operations/lookup/lookup_choice.hpp>
#include <cost_models/operations/lookup/lookup_gradient.hpp>
#include <cost_models/operations/lookup/lookup_layout.hpp>
#include <cost_models/operations/operation_kinds.hpp>

namespace shardplan {
namespace {

/// Sums of all tokens' rows are scattered among the words' devices; the tokens' devices take theirs, where the table's
/// columns are finer than the words' parts; and all are put in order.
Moves rows_of_split_words(const BlockState& state, const Operation& op, const SplitWords& split) {
  const std::int64_t parts = state.mesh.product(split.words);
  const Bytes rows = state.local(op.output);
  Moves moves{{CollectiveKind::reduce_scatter, split.words, rows * parts}};
  if (makes_whole_rows(state, split))
    moves.push_back({CollectiveKind::all_gather, split.rest, rows * parts * state.mesh.product(split.rest)});
  if (!split.split_columns) moves.push_back({CollectiveKind::all_to_all, split.met, rows * parts});
  if (split.split_columns && state.mesh.product(split.met) > parts)
    moves.push_back({CollectiveKind::all_to_all, split.met, rows});
  moves.push_back(permuted_rows(state, op, split));
  return moves;
}

Moves rows_of_mixed_columns(const BlockState& state, const Operation& op, const MixedColumns& mixed) {
  const Bytes rows = state.local(op.output), gathered = rows * state.mesh.product(mixed.rest);
  Moves moves{{CollectiveKind::all_gather, mixed.rest, gathered}};
  if (!mixed.evenly) {
    moves.push_back({CollectiveKind::all_gather, mixed.columns, gathered * state.mesh.product(mixed.columns)});
    return moves;
  }
  moves.push_back({CollectiveKind::all_to_all, mixed.rest, rows});
  moves.push_back({CollectiveKind::all_to_all, mixed.columns, rows});
  moves.push_back({CollectiveKind::collective_permute, in_mesh_order(token_axes(state, op.inputs[1])), rows});
  return moves;
}

Moves rows_of_columns(const BlockState& state, const Operation& op, const Layout& columns) {
  if (const auto mixed = mixed_columns(state, op)) return rows_of_mixed_columns(state, op, *mixed);
  const Tensor& rows = state.tensor(op.output);
  const AxisList over = gathered_over(state, op);
  Moves moves;
  if (!over.empty())
    moves.push_back({CollectiveKind::all_gather, over, local_bytes(rows, without_axes(columns.spec, over), state.mesh)});
  for (const Move& move : reshard(rows, columns, state.spec(op.output), state.mesh, state.compiler)) moves.push_back(move);
  return moves;
}

void look_up_in_columns(BlockState& state, const Operation& op) {
  const TensorId table = op.inputs[0], ids = op.inputs[1];
  const AxisList shared = common(axes_of(state.spec(ids)), axes_of(state.spec(table)));
  const Layout columns = lookup_layout(state, op);
  state.recorder.record(
      Phase::forward,
      {CollectiveKind::all_gather, in_mesh_order(shared), state.local(ids) * state.mesh.product(shared)},
      {state.id_of(op), ids, Cause::token_ids, {state.spec(ids), {}}}, RunCount::body);
  const auto split = split_words(state, op);
  const bool reorders = split && split->reorders();
  const Moves moves = reorders ? rows_of_split_words(state, op, *split) : rows_of_columns(state, op, columns);
  state.recorder.record_all(Phase::forward, moves,
                            {state.id_of(op), op.output, Cause::embedding_columns, columns, state.spec(op.output)},
                            RunCount::body);
}

class Lookup final : public OperationKind {
 public:
  void forward(BlockState& state, const Operation& op, Pass) const override {
    if (!outnumbers_table(state, op) && !gathers_table(state, op, Phase::forward)) return look_up_in_columns(state, op);
    state.forms.use(op.inputs[0], gathered_table(state, op), Pass::forward, op);
  }

  void backward(BlockState& state, const Operation& op) const override { add_rows_to_table(state, op); }

  TensorIds read_by_gradient(const Block&, const Operation&) const override { return {}; }
};

}  // namespace

const OperationKind& lookup_kind() {
  static const Lookup kind;
  return kind;
}

}  // namespace shardplan
