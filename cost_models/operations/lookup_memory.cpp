#include <algorithm>
#include <cost_models/operations/lookup_memory.hpp>

namespace shardplan {
namespace {

std::int64_t column_parts(const BlockState& state, TensorId table) {
  return state.mesh.product(state.split_axes(table, {state.tensor(table).dims.back().dim}));
}

Bytes bytes_of(const BlockState& state, TensorId tensor, std::int64_t parts) {
  return Bytes{elements_of(state.tensor(tensor)) * size_of(state.tensor(tensor).dtype) / parts};
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
  Bytes most = state.local(table) + bytes_of(state, op.output, column_parts(state, table)) + bytes_of(state, ids, 1);
  for (const auto& move : moves) most = std::max(most, held_by(state, move));
  return most;
}

Bytes held_by_table(const BlockState& state, const Operation& op) {
  const TensorId table = op.inputs[0];
  const Bytes shard = state.local(table), whole = shard * column_parts(state, table);
  return whole + std::max(state.local(op.output) + state.local(op.inputs[1]), shard);
}

}  // namespace

bool looks_up_in_less_when_gathered(const BlockState& state, const Operation& op, const Moves& moves) {
  return held_by_columns(state, op, moves) > held_by_table(state, op);
}

}  // namespace shardplan
