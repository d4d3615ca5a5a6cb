#include <cost_models/operations/lookup/lookup_gradient.hpp>
#include <cost_models/operations/lookup/lookup_choice.hpp>
#include <cost_models/operations/lookup/lookup_layout.hpp>

namespace shardplan {
namespace {

/// ZeRO-1 wants rows of the table's gradient on each data shard: it looks through all tokens' rows for its own, unless
/// the table is smaller than they are; then the whole table is summed and sliced (recorded for both, and beside fsdp).
bool gathers_rows(const BlockState& state, const Operation& op) {
  if (!state.compiler.has(Habit::looks_through_all_rows)) return false;
  const TensorId table = op.inputs[0];
  const PartitionSpec wanted = state.gradients.target(table);
  const AxisList over = axes_beside_table(state, op);
  if (wanted == state.spec(table) || over.empty() || !state.split_axes(table, {Dim::vocab}).empty()) return false;
  return common(wanted.dims.front(), over) == over && whole_bytes(state, op.output) < whole_bytes(state, table);
}

/// Of rows whose columns are split: as split where they are larger than the table and its gradient together, else as whole
/// columns of the words that a device keeps (as products are laid out; recorded on 7x: rows 2.05 times as large as the
/// table, and 1.02 times).
void reduce_whole_table(BlockState& state, const Operation& op) {
  const TensorId table = op.inputs[0];
  Layout gradient{gathered_table(state, op), token_axes(state, op.inputs[1])};
  const AxisList columns = without(gradient.spec.dims.back(), state.spec(table).dims.back());
  if (!columns.empty() && whole_bytes(state, op.output) <= whole_bytes(state, table) * tables_of_gradient) {
    gradient.spec = without_axes(state.spec(table), gradient.partial);
    const PartitionSpec rows = without_axes(state.spec(op.output), columns);
    state.recorder.record_all(
        Phase::backward, reshard(state.tensor(op.output), {state.spec(op.output), {}}, rows, state.mesh, state.compiler),
        {state.id_of(op), op.output, Cause::embedding_gradient_rows, {state.spec(op.output), {}}, rows},
        RunCount::body);
  }
  const AxisList copies = without(gradient.partial, axes_of(state.gradients.target(table)));
  if (!copies.empty() && !state.compiler.has(Habit::splits_sliced_sums))
    return state.gradients.sum_parameter(table, gradient, gradient.spec, op);
  state.gradients.reduce_parameter(table, gradient, op);
}

/// Rows of all data shards, and where fsdp splits the table's columns those of its devices: exchanged, then gathered
/// (recorded for fsdp=4 beside data=2 and 4); with more data shards than fsdp has devices gathered first, and put in order
/// (ll8x4_v6e8_zero1_dp4_fsdp2_loop).
void gather_rows(BlockState& state, const Operation& op) {
  const AxisList tokens = token_axes(state, op.inputs[1]);
  const AxisList over = in_mesh_order(axes_beside_table(state, op));
  const AxisList columns = in_mesh_order(without(tokens, over));
  const Bytes rows = state.local(op.output), gathered = rows * state.mesh.product(over);
  Moves moves;
  const bool first = !columns.empty() && state.mesh.product(over) > state.mesh.product(columns);
  if (!columns.empty() && !first) moves.push_back({CollectiveKind::all_to_all, columns, rows});
  moves.push_back({CollectiveKind::all_gather, over, gathered});
  if (first) moves.push_back({CollectiveKind::all_to_all, columns, gathered});
  if (first) moves.push_back({CollectiveKind::collective_permute, in_mesh_order(tokens), rows});
  state.recorder.record_all(Phase::backward, moves,
                            {state.id_of(op), op.output, Cause::embedding_gradient_rows, {state.spec(op.output), {}}},
                            RunCount::body);
}

/// Sequences are gathered, and whole ones exchanged and put in order; or all rows are gathered.
Moves columns_of_mixed_rows(const BlockState& state, const Operation& op, const MixedColumns& mixed) {
  const AxisList tokens = in_mesh_order(token_axes(state, op.inputs[1]));
  const Bytes rows = state.local(op.output), sequences = rows * state.mesh.product(mixed.sequence);
  if (!mixed.evenly) return {{CollectiveKind::all_gather, tokens, rows * state.mesh.product(tokens)}};
  return {{CollectiveKind::all_gather, mixed.sequence, sequences},
          {CollectiveKind::all_to_all, mixed.batch, sequences},
          {CollectiveKind::collective_permute, tokens, sequences}};
}

void exchange_columns(BlockState& state, const Operation& op) {
  const TensorId table = op.inputs[0];
  const Layout rows{state.spec(op.output), {}};
  const PartitionSpec columns = lookup_layout(state, op).spec;
  Tensor gradient = state.tensor(op.output);
  if (op.wide_rows) gradient.dtype = DType::f32;
  const AxisList over = gathered_over(state, op);
  const std::int64_t copies = state.mesh.product(over);
  Moves moves;
  const auto mixed = mixed_columns(state, op);
  if (mixed) moves = columns_of_mixed_rows(state, op, *mixed);
  if (!over.empty()) moves.push_back({CollectiveKind::all_gather, over, state.local(op.output) * copies});
  for (Move move : mixed ? Moves{} : reshard(gradient, rows, columns, state.mesh, state.compiler)) {
    move.bytes = move.bytes * copies;
    moves.push_back(move);
  }
  state.recorder.record_all(Phase::backward, moves,
                            {state.id_of(op), op.output, Cause::embedding_gradient_columns, rows, columns},
                            RunCount::body);
  state.gradients.sum_parameter(table, {state.spec(table), axes_beside_table(state, op)}, state.spec(table), op);
}

/// Each device adds up whole rows for the words that it has: columns are gathered over those, in the order of the lookup,
/// which takes an exchange and a permute; not for a table smaller than the rows (recorded: 262 MB against 402). XLA:GPU
/// gathers them in two steps where the words have more parts than the tokens, so that the table's columns come between
/// (recorded: tensor=4 beside fsdp=2 and context=2).
void sum_rows_of_split_words(BlockState& state, const Operation& op, const SplitWords& split) {
  const TensorId table = op.inputs[0];
  const Bytes rows = state.local(op.output) * state.mesh.product(split.words);
  const std::int64_t parts = state.mesh.product(split.words), columns = state.mesh.product(split.met);
  Moves moves;
  if (parts > columns && state.compiler.has(Habit::gathers_dim_by_dim))
    moves.push_back({CollectiveKind::all_gather, split.words, state.local(op.output) * (parts / columns)});
  moves.push_back({CollectiveKind::all_gather, split.words, rows});
  if (!split.smaller_table) {
    moves.push_back({CollectiveKind::all_to_all, split.met, rows});
    moves.push_back(permuted_rows(state, op, split));
  }
  const PartitionSpec whole = without_axes(state.spec(op.output), split.words);
  state.recorder.record_all(
      Phase::backward, moves,
      {state.id_of(op), op.output, Cause::embedding_gradient_columns, {state.spec(op.output), {}}, whole}, RunCount::body);
  const Layout gradient{without_axes(state.spec(table), split.tokens), split.tokens};
  if (makes_whole_rows(state, split)) return state.gradients.sum_parameter(table, gradient, gradient.spec, op);
  state.gradients.reduce_parameter(table, gradient, op);
}

/// With tokens that nothing splits rows stay as they are and make columns of all words, of which each device takes its own,
/// where the table is smaller than the rows (recorded: 262 MB against 402; 1051 MB against 537 isn't).
void exchange_words(BlockState& state, const Operation& op, const SplitWords& split) {
  const TensorId table = op.inputs[0];
  PartitionSpec columns = without_axes(state.spec(table), split.words);
  columns.dims.back().append(split.words);
  state.gradients.sum_parameter(table, {columns, {}}, state.spec(table), op);
}

/// Where nothing but words splits the table, and it is smaller than the rows: rows make columns of all words, which are
/// summed over the tokens and gathered; each device keeps its words (recorded: 262 MB against 268 and 1074 under stage on
/// v5p, against 403 and 537 under data on H100).
void gather_columns(BlockState& state, const Operation& op, const SplitWords& split) {
  const TensorId table = op.inputs[0];
  PartitionSpec columns = without_axes(state.spec(table), split.words);
  columns.dims.back().append(split.words);
  state.gradients.sum_parameter(table, {columns, split.tokens}, columns, op);
  const Bytes whole = state.local(table) * state.mesh.product(split.words);
  state.recorder.record(Phase::backward, {CollectiveKind::all_gather, split.words, whole, true},
                        {state.id_of(op), table, Cause::embedding_gradient_columns, {columns, {}}, state.spec(table)},
                        RunCount::reductions);
}

}  // namespace

void add_rows_to_table(BlockState& state, const Operation& op) {
  if (outnumbers_gradient(state, op) || gathers_table(state, op, Phase::backward))
    return reduce_whole_table(state, op);
  if (gathers_rows(state, op)) return gather_rows(state, op);
  if (const auto split = split_words(state, op)) {
    const bool smaller = split->smaller_table;
    if (!split->tokens.empty() && smaller && !split->split_columns) return gather_columns(state, op, *split);
    if (!split->tokens.empty()) return sum_rows_of_split_words(state, op, *split);
    if (smaller) return exchange_words(state, op, *split);
  }
  exchange_columns(state, op);
}

}  // namespace shardplan
