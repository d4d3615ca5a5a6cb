#include <cost_models/blocks/buffers/kept_feed_forward.hpp>
#include <cost_models/blocks/released_weights.hpp>
#include <cost_models/layouts/tiles.hpp>

namespace shardplan {

bool runs_weight_gradients_last(const BlockState& state, const Schedule& schedule) {
  const Block& block = state.block;
  const bool in_cycle = shares_iteration(block, *state.program.program);
  const Habit last = in_cycle ? Habit::runs_cycle_weight_gradients_last : Habit::runs_kept_weight_gradients_last;
  if (!state.compiler.has(last)) return false;
  if (block.kind != BlockKind::layer || !block.rematerialized || block.mixture || block.own_backward) return false;
  const bool beside_collectives = state.compiler.has(Habit::runs_weight_gradients_beside_collectives);
  const bool splits_tokens = !state.split_axes(block.input, {Dim::batch, Dim::sequence}).empty();
  const bool beside_fsdp = splits_tokens && state.compiler.has(Habit::runs_split_layers_as_read);
  if (state.splits_features() && !beside_fsdp && !beside_collectives) return false;
  bool has_feed_forward = false;
  for (const auto& op : block.operations) {
    const OperationId id = state.id_of(op);
    if (op.module != Module::mlp || !state.is_layer_product(op)) continue;
    if (!schedule.has_backward(id) || (schedule.recomputed[id] >= 0 && !beside_collectives)) return false;
    has_feed_forward = true;
  }
  return has_feed_forward;
}

namespace {

/// As the kernel wrote it, times the cosine, and both halves, each of whole rows of lanes.
Bytes rotated_gradient(const BlockState& state, TensorId query) {
  const Tensor& whole = state.tensor(query);
  Tensor half = whole;
  half.dims.back().size /= 2;
  const PartitionSpec& spec = state.spec(query);
  return (stored_bytes(whole, spec, state.mesh, state.compiler) + stored_bytes(half, spec, state.mesh, state.compiler)) * 2;
}

}  // namespace

std::vector<Lifetime> waiting_for_weight_gradients(const BlockState& state, const Schedule& schedule) {
  const bool alone = !shares_iteration(state.block, *state.program.program);
  const bool turns = alone && state.compiler.has(Habit::turns_kept_rows);
  std::vector<Lifetime> all;
  for (const auto& op : state.block.operations) {
    const OperationId id = state.id_of(op);
    if (!schedule.has_backward(id)) continue;
    if (op.kind == OpKind::attention && op.rotation == Rotation::halves)
      all.push_back({{op.inputs.front(), " gradient, turned back"}, rotated_gradient(state, op.inputs.front()),
                     schedule.backward_ends[id], schedule.backward_ends[id]});
    const bool kept = op.module == Module::mlp && state.is_layer_product(op) && schedule.recomputed[id] < 0;
    if (!kept || !turns) continue;
    const Tensor& rows = state.tensor(op.output);
    if (rows.dims.back().dim != Dim::mlp) continue;
    all.push_back({{op.output, ", turned"}, stored_bytes(rows, state.spec(op.output), state.mesh, state.compiler),
                   schedule.backward_begins.back(), schedule.backward_ends[id]});
  }
  return all;
}

}  // namespace shardplan
