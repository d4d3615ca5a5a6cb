#include <cost_models/operations/lookup/lookup_layout.hpp>

namespace shardplan {

Dim column_of(const BlockState& state, const Operation& op) { return state.tensor(op.inputs[0]).dims.back().dim; }

AxisList token_axes(const BlockState& state, TensorId ids) { return state.split_axes(ids, {Dim::batch, Dim::sequence}); }

AxisList axes_beside_table(const BlockState& state, const Operation& op) {
  return without(token_axes(state, op.inputs[1]), axes_of(state.spec(op.inputs[0])));
}

Bytes whole_bytes(const BlockState& state, TensorId tensor) {
  return Bytes{elements_of(state.tensor(tensor)) * size_of(state.tensor(tensor).dtype)};
}

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

AxisList gathered_over(const BlockState& state, const Operation& op) {
  const TensorId table = op.inputs[0], ids = op.inputs[1];
  const AxisList columns = state.split_axes(table, {column_of(state, op)});
  const bool of_sequence = !columns.empty() && columns == state.split_axes(ids, {Dim::sequence});
  if (!of_sequence || !state.split_axes(table, {Dim::vocab}).empty()) return {};
  if (!state.compiler.has(Habit::gathers_rows_over_other_axes)) return {};
  return in_mesh_order(state.split_axes(ids, {Dim::batch}));
}

std::optional<MixedColumns> mixed_columns(const BlockState& state, const Operation& op) {
  const TensorId table = op.inputs[0], ids = op.inputs[1];
  const Compiler& compiler = state.compiler;
  if (!compiler.has(Habit::gathers_rows_over_other_axes) || compiler.has(Habit::exchanges_dim_by_dim)) return std::nullopt;
  MixedColumns mixed;
  mixed.columns = in_mesh_order(state.split_axes(table, {column_of(state, op)}));
  mixed.batch = in_mesh_order(state.split_axes(ids, {Dim::batch}));
  mixed.sequence = in_mesh_order(state.split_axes(ids, {Dim::sequence}));
  mixed.rest = without(mixed.batch, mixed.columns);
  const AxisList met = common(mixed.columns, mixed.batch);
  const bool of_both = !met.empty() && !mixed.sequence.empty() && without(mixed.columns, met) == mixed.sequence;
  if (!of_both || mixed.rest.empty() || !state.split_axes(table, {Dim::vocab}).empty()) return std::nullopt;
  mixed.evenly = state.mesh.product(mixed.columns) == state.mesh.product(mixed.batch);
  return mixed;
}

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

Move permuted_rows(const BlockState& state, const Operation& op, const SplitWords& split) {
  AxisList axes = split.met;
  axes.append(split.words);
  return {CollectiveKind::collective_permute, in_mesh_order(axes), state.local(op.output)};
}

bool makes_whole_rows(const BlockState& state, const SplitWords& split) {
  return split.split_columns && !split.rest.empty() &&
         state.compiler.has(Habit::gathers_rows_over_other_axes);
}

}  // namespace shardplan
