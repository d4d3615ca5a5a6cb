// The embedding: inputs {table, token ids} (SHARDING.md 3.1).
#include <algorithm>
#include <cost_models/operations/lookup_memory.hpp>
#include <cost_models/operations/operation_kinds.hpp>
#include <optional>

namespace shardplan {
namespace {

Dim column_of(const BlockState& state, const Operation& op) { return state.tensor(op.inputs[0]).dims.back().dim; }

/// What the local lookup yields: each device looks all tokens of the table's group up in its own columns (and, where
/// the vocabulary is split, finds only some of them: a partial sum).
Layout lookup_layout(const BlockState& state, const Operation& op) {
  const TensorId table = op.inputs[0], ids = op.inputs[1];
  const Dim column = column_of(state, op);
  const AxisList held = axes_of(state.spec(table));
  Layout layout;
  for (const auto& dim : state.tensor(op.output).dims) {
    if (dim.dim == column) layout.spec.dims.push_back(state.split_axes(table, {column}));
    if (dim.dim != column) layout.spec.dims.push_back(without(state.split_axes(ids, {dim.dim}), held));
  }
  layout.partial = state.split_axes(table, {Dim::vocab});
  return layout;
}

AxisList token_axes(const BlockState& state, TensorId ids) { return state.split_axes(ids, {Dim::batch, Dim::sequence}); }

/// The gradient of a lookup adds rows to a table of zeros: table and result, of which the larger of them and the rows keeps
/// an axis (as products are laid out, Habit::lays_out_products_by_size). Recorded on 7x: rows 2.04 to 3.1 times as large as
/// the table, and up to 1.73 times.
constexpr std::int64_t tables_of_gradient = 2;

Bytes whole_bytes(const BlockState& state, TensorId tensor) {
  return Bytes{elements_of(state.tensor(tensor)) * size_of(state.tensor(tensor).dtype)};
}

/// XLA:TPU for 7x compares the table with the rows of all tokens, whatever would bring them.
bool outnumbers_table(const BlockState& state, const Operation& op) {
  if (!state.compiler.has(Habit::gathers_tables_up_to_rows)) return false;
  if (lookup_layout(state, op).spec == state.spec(op.output)) return false;
  return whole_bytes(state, op.inputs[0]) <= whole_bytes(state, op.output);
}

/// Of its gradient each device keeps the words that it has; then it compares those.
bool outnumbers_gradient(const BlockState& state, const Operation& op) {
  const TensorId table = op.inputs[0];
  const std::int64_t parts = state.mesh.product(state.split_axes(table, {Dim::vocab}));
  return outnumbers_table(state, op) &&
         whole_bytes(state, table) * tables_of_gradient <= whole_bytes(state, op.output) * parts;
}

/// Words are split over axes that split the rows' columns, and other axes split the tokens: what a device finds of the rows
/// comes out in another order of devices than rows have. The axes of the tokens split the table's columns too (fsdp,
/// expert), or not (data). Recorded on v5p, v6e and H100: tensor=2 and 4 beside fsdp=2 to 8, expert=8, data=2 and 4.
struct SplitWords {
  AxisList words, tokens;
  AxisList met;        ///< those of the tokens that rows are put in order among: where they split columns, these alone
  AxisList rest;       ///< other axes of the tokens
  bool split_columns;  ///< by axes of the tokens
  bool smaller_table;  ///< than the rows of all tokens

  /// Recorded for both sizes of table where columns are split; else for a larger one, not for a smaller (ll7_v5p4_pp2tp2).
  bool reorders() const { return !tokens.empty() && (split_columns || !smaller_table); }
};

std::optional<SplitWords> split_words(const BlockState& state, const Operation& op) {
  const TensorId table = op.inputs[0];
  if (!state.compiler.has(Habit::orders_rows_of_split_words)) return std::nullopt;
  const Dim column = column_of(state, op);
  const AxisList words = state.split_axes(table, {Dim::vocab}), columns = state.split_axes(table, {column});
  const AxisList tokens = token_axes(state, op.inputs[1]);
  if (words.empty() || state.split_axes(op.output, {column}) != words) return std::nullopt;
  if (common(columns, tokens) != columns) return std::nullopt;
  const AxisList& met = columns.empty() ? tokens : columns;
  const bool smaller = whole_bytes(state, table) < whole_bytes(state, op.output);
  return SplitWords{words, tokens, met, without(tokens, met), !columns.empty(), smaller};
}

/// Looked-up columns move, or the table is gathered and its gradient summed whole, whichever holds less at once. The rows for
/// a gradient come from all tokens: they are gathered over axes that split no columns. 7x has a comparison of its own for
/// exchanges. Not a table whose words are split, however small.
bool gathers_table(const BlockState& state, const Operation& op, Phase phase) {
  if (!state.compiler.has(Habit::gathers_smaller_of_table_and_rows)) return false;
  if (!state.split_axes(op.inputs[0], {Dim::vocab}).empty()) return false;
  const Layout columns = lookup_layout(state, op);
  Moves moves = reshard(state.tensor(op.output), columns, state.spec(op.output), state.mesh, state.compiler);
  const auto gathers = [](const Move& move) { return move.kind == CollectiveKind::all_gather; };
  const bool by_exchange = std::ranges::none_of(moves, gathers);
  if (moves.empty() || (by_exchange && state.compiler.has(Habit::gathers_tables_up_to_rows))) return false;
  const AxisList rest = without(token_axes(state, op.inputs[1]), axes_of(state.spec(op.inputs[0])));
  if (phase == Phase::backward && !rest.empty())
    moves.push_back({CollectiveKind::all_gather, rest,
                     local_bytes(state.tensor(op.output), columns.spec, state.mesh) * state.mesh.product(rest)});
  return looks_up_in_less_when_gathered(state, op, moves);
}

/// ZeRO-1 wants rows of the table's gradient on each data shard: it looks through all tokens' rows for its own, unless
/// the table is smaller than they are; then the whole table is summed and sliced (recorded for both).
bool gathers_rows(const BlockState& state, const Operation& op) {
  if (!state.compiler.has(Habit::looks_through_all_rows)) return false;
  const TensorId table = op.inputs[0];
  const AxisList tokens = axes_of(state.spec(op.inputs[1]));
  if (state.gradients.target(table) == state.spec(table) || !common(tokens, axes_of(state.spec(table))).empty())
    return false;
  return state.local(op.output) * state.mesh.product(tokens) < state.local(table);
}

/// Puts a device's rows, whose columns the words' axes split, in the order of the other devices that hold those tokens.
Move permuted_rows(const BlockState& state, const Operation& op, const SplitWords& split) {
  AxisList axes = split.met;
  axes.append(split.words);
  return {CollectiveKind::collective_permute, in_mesh_order(axes), state.local(op.output)};
}

/// Of tokens that axes beside the columns' split, too, XLA:TPU gathers the scattered rows over those, and sums the table's
/// gradient over all of them at once, whole.
bool makes_whole_rows(const BlockState& state, const SplitWords& split) {
  return split.split_columns && !split.rest.empty() &&
         state.compiler.has(Habit::gathers_rows_over_other_axes);
}

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

void look_up_in_columns(BlockState& state, const Operation& op) {
  const TensorId table = op.inputs[0], ids = op.inputs[1];
  const AxisList shared = common(axes_of(state.spec(ids)), axes_of(state.spec(table)));
  const Layout columns = lookup_layout(state, op);
  state.recorder.record(
      Phase::forward,
      {CollectiveKind::all_gather, in_mesh_order(shared), state.local(ids) * state.mesh.product(shared)},
      {state.id_of(op), ids, Cause::token_ids, {state.spec(ids), {}}}, RunCount::body);
  const auto split = split_words(state, op);
  const Moves moves =
      split && split->reorders()
          ? rows_of_split_words(state, op, *split)
          : reshard(state.tensor(op.output), columns, state.spec(op.output), state.mesh, state.compiler);
  state.recorder.record_all(Phase::forward, moves,
                            {state.id_of(op), op.output, Cause::embedding_columns, columns, state.spec(op.output)},
                            RunCount::body);
}

/// The table as it is gathered: whole but for the words that a device keeps; where the rows want the axes that split those
/// on their columns, these are split instead (recorded on 7x: tensor=2 and 4 beside fsdp=2 to 8).
PartitionSpec gathered_table(const BlockState& state, const Operation& op) {
  const TensorId table = op.inputs[0];
  PartitionSpec spec = without_axes(state.spec(table), token_axes(state, op.inputs[1]));
  const AxisList words = state.split_axes(table, {Dim::vocab});
  const AxisList columns = common(state.split_axes(op.output, {column_of(state, op)}), words);
  if (columns.empty() || !state.compiler.has(Habit::permutes_before_gathers)) return spec;
  spec = without_axes(std::move(spec), columns);
  spec.dims.back().append(columns);
  return spec;
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
  if (!copies.empty() && !state.compiler.has(Habit::splits_sliced_sums)) return state.gradients.sum_parameter(table, gradient, gradient.spec, op);
  state.gradients.reduce_parameter(table, gradient, op);
}

void gather_rows(BlockState& state, const Operation& op) {
  const AxisList tokens = in_mesh_order(axes_of(state.spec(op.inputs[1])));
  state.recorder.record(
      Phase::backward, {CollectiveKind::all_gather, tokens, state.local(op.output) * state.mesh.product(tokens)},
      {state.id_of(op), op.output, Cause::embedding_gradient_rows, {state.spec(op.output), {}}},
      RunCount::body);
}

void exchange_columns(BlockState& state, const Operation& op) {
  const TensorId table = op.inputs[0], ids = op.inputs[1];
  const Layout rows{state.spec(op.output), {}};
  const PartitionSpec columns = lookup_layout(state, op).spec;
  Tensor gradient = state.tensor(op.output);
  if (op.wide_rows) gradient.dtype = DType::f32;
  state.recorder.record_all(Phase::backward, reshard(gradient, rows, columns, state.mesh, state.compiler),
                            {state.id_of(op), op.output, Cause::embedding_gradient_columns, rows, columns},
                            RunCount::body);
  state.gradients.sum_parameter(table,
                                {state.spec(table), without(axes_of(state.spec(ids)), axes_of(state.spec(table)))},
                                state.spec(table), op);
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

class Lookup final : public OperationKind {
 public:
  void forward(BlockState& state, const Operation& op, Pass) const override {
    if (!outnumbers_table(state, op) && !gathers_table(state, op, Phase::forward)) return look_up_in_columns(state, op);
    state.forms.use(op.inputs[0], gathered_table(state, op), Pass::forward, op);
  }

  void backward(BlockState& state, const Operation& op) const override {
    if (outnumbers_gradient(state, op) || gathers_table(state, op, Phase::backward)) return reduce_whole_table(state, op);
    if (gathers_rows(state, op)) return gather_rows(state, op);
    if (const auto split = split_words(state, op)) {
      const bool smaller = split->smaller_table;
      if (!split->tokens.empty() && smaller && !split->split_columns) return gather_columns(state, op, *split);
      if (!split->tokens.empty()) return sum_rows_of_split_words(state, op, *split);
      if (smaller) return exchange_words(state, op, *split);
    }
    exchange_columns(state, op);
  }

  TensorIds read_by_gradient(const Block&, const Operation&) const override { return {}; }
};

}  // namespace

const OperationKind& lookup_kind() {
  static const Lookup kind;
  return kind;
}

}  // namespace shardplan
