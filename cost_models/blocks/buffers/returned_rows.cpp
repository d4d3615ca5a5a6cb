#include <algorithm>
#include <cost_models/blocks/buffers/returned_rows.hpp>
#include <cost_models/blocks/released_weights.hpp>
#include <cost_models/layouts/tiles.hpp>
#include <shardplan/rounding.hpp>

namespace shardplan {
namespace {

/// f32[tokens, experts of a token, embed], whole tiles of experts.
Bytes weighed_bytes(const BlockState& state, TensorId rows) {
  const std::int64_t experts = state.block.experts_per_token;
  const std::int64_t elements = local_elements(state.tensor(rows).dims, state.spec(rows), state.mesh);
  return Bytes{elements / experts * divided_up(experts, sublanes) * sublanes * size_of(DType::f32)};
}

/// Of a ring they are one operation's, which weighs them; else they have come back, and another weighs them.
bool weighs(const BlockState& state, const Operation& op) {
  const Tensor& rows = state.tensor(op.inputs.front());
  const bool returned = index_of(rows.dims, Dim::top_k) >= 0 && index_of(rows.dims, Dim::embed) >= 0;
  return (op.kind == OpKind::ring_return || returned) && op.inputs.size() > 1 &&
         state.tensor(op.inputs.back()).differentiable;
}

}  // namespace

std::vector<Lifetime> returned_rows(const BlockState& state, const Schedule& schedule, const Liveness& liveness) {
  const Block& block = state.block;
  std::vector<Lifetime> all;
  if (!state.config.float32_weight_sum || !state.compiler.has(Habit::pads_to_tiles)) return all;
  if (!block.rematerialized || !shares_iteration(block, *state.program.program)) return all;
  const auto is_fetched = [&](TensorId rows) {
    return std::find(liveness.offloaded.begin(), liveness.offloaded.end(), rows) != liveness.offloaded.end();
  };
  const bool widens = state.compiler.has(Habit::widens_returned_rows) && block.experts_per_token > sublanes &&
                      !liveness.step_offloads;
  const int recomputed = *std::max_element(schedule.recomputed.begin(), schedule.recomputed.end());
  for (const Operation& op : block.operations) {
    const OperationId id = state.id_of(op);
    const TensorId rows = op.inputs.front();
    if (!weighs(state, op) || !schedule.has_backward(id)) continue;
    const bool in_ring = op.kind == OpKind::ring_return;
    if (in_ring ? !is_fetched(rows) : !widens) continue;
    Bytes wide = weighed_bytes(state, rows);
    if (!in_ring) wide -= stored_bytes(state.tensor(rows), state.spec(rows), state.mesh, state.compiler);
    all.push_back({{rows, " in float32"}, wide, recomputed, schedule.backward_begins[id]});
  }
  return all;
}

}  // namespace shardplan
