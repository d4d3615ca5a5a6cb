// What a lookup holds at once in each of its partitionings, by which XLA's partitioner chooses one: it tries each and takes
// the one whose gather, or collective, has the smallest operands and result (EvaluatePartitionCost in
// spmd_partitioner_util.h, MemoryCostInBytes in spmd_partitioner.cc; gather_scatter_handler.cc for lookups and their
// gradients).
#include <algorithm>
#include <cost_models/operations/lookup/lookup_choice.hpp>
#include <cost_models/operations/lookup/lookup_layout.hpp>

namespace shardplan {
namespace {

std::int64_t column_parts(const BlockState& state, TensorId table) {
  return state.mesh.product(state.split_axes(table, {state.tensor(table).dims.back().dim}));
}

/// Operand and result; a sum isn't scattered yet, and is made in place.
Bytes held_by(const BlockState& state, const Move& move) {
  if (move.kind == CollectiveKind::all_gather)
    return move.bytes + Bytes{move.bytes.value / state.mesh.product(move.axes)};
  const bool sums = move.kind == CollectiveKind::reduce_scatter || move.kind == CollectiveKind::all_reduce;
  return sums ? move.bytes : move.bytes * 2;
}

/// A device's columns are looked up for all tokens, whatever else splits these.
Bytes held_by_columns(const BlockState& state, const Operation& op, const Moves& moves) {
  const TensorId table = op.inputs[0], ids = op.inputs[1];
  Bytes most = state.local(table) + Bytes{whole_bytes(state, op.output).value / column_parts(state, table)} +
               whole_bytes(state, ids);
  for (const auto& move : moves) most = std::max(most, held_by(state, move));
  return most;
}

Bytes held_by_table(const BlockState& state, const Operation& op) {
  const TensorId table = op.inputs[0];
  const Bytes shard = state.local(table), whole = shard * column_parts(state, table);
  return whole + std::max(state.local(op.output) + state.local(op.inputs[1]), shard);
}

}  // namespace

bool outnumbers_table(const BlockState& state, const Operation& op) {
  if (!state.compiler.has(Habit::gathers_tables_up_to_rows)) return false;
  if (state.program.program->pipeline.queues_microbatches()) return false;  // to whose buffers rows are exchanged anyway
  if (lookup_layout(state, op).spec == state.spec(op.output)) return false;
  return whole_bytes(state, op.inputs[0]) <= whole_bytes(state, op.output);
}

bool outnumbers_gradient(const BlockState& state, const Operation& op) {
  const TensorId table = op.inputs[0];
  const std::int64_t parts = state.mesh.product(state.split_axes(table, {Dim::vocab}));
  return outnumbers_table(state, op) &&
         whole_bytes(state, table) * tables_of_gradient <= whole_bytes(state, op.output) * parts;
}

bool gathers_table(const BlockState& state, const Operation& op, Phase phase) {
  if (!state.compiler.has(Habit::gathers_smaller_of_table_and_rows)) return false;
  if (!state.split_axes(op.inputs[0], {Dim::vocab}).empty()) return false;
  const Layout columns = lookup_layout(state, op);
  Moves moves = reshard(state.tensor(op.output), columns, state.spec(op.output), state.mesh, state.compiler);
  const auto gathers = [](const Move& move) { return move.kind == CollectiveKind::all_gather; };
  const bool by_exchange = std::ranges::none_of(moves, gathers);
  if (moves.empty() || (by_exchange && state.compiler.has(Habit::gathers_tables_up_to_rows))) return false;
  const AxisList rest = axes_beside_table(state, op);
  if (phase == Phase::backward && !rest.empty())
    moves.push_back({CollectiveKind::all_gather, rest,
                     local_bytes(state.tensor(op.output), columns.spec, state.mesh) * state.mesh.product(rest)});
  return held_by_columns(state, op, moves) > held_by_table(state, op);
}

}  // namespace shardplan
