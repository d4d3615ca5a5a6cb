#include <algorithm>
#include <cost_models/blocks/buffers/softmax_statistics.hpp>
#include <cost_models/blocks/released_weights.hpp>
#include <cost_models/layouts/tiles.hpp>

namespace shardplan {
namespace {

bool sorts_rows(const Block& block) {
  return std::any_of(block.operations.begin(), block.operations.end(), [](const Operation& op) {
    return op.kind == OpKind::ragged_dispatch || op.kind == OpKind::ring_dispatch;
  });
}

/// Of one sequence two copies read what the kernel wrote, one for each kernel of the gradient: neither frees it. Of several
/// it is turned, and reduced to one lane at once.
bool are_copied_for_each_gradient(const BlockState& state, const Tensor& query, TensorId id) {
  std::int64_t sequences = 1;
  for (std::size_t i = 0; i < query.dims.size(); ++i)
    if (query.dims[i].dim == Dim::batch) sequences = query.dims[i].size / state.mesh.product(state.spec(id).dims[i]);
  return sequences == 1 && shares_iteration(state.block, *state.program.program);
}

}  // namespace

bool waits_depth_first(const BlockState& state, const Liveness& liveness) {
  if (!state.compiler.has(Habit::takes_list_order) || state.block.mixture || liveness.offloaded.empty()) return false;
  const auto& operations = state.block.operations;
  return std::any_of(operations.begin(), operations.end(), [&](const Operation& op) {
    return op.kind == OpKind::attention && liveness.recomputed[state.id_of(op)];
  });
}

std::vector<Lifetime> softmax_statistics(const BlockState& state, const Schedule& schedule, bool wait) {
  const Block& block = state.block;
  const bool kept = block.rematerialized && state.compiler.has(Habit::keeps_softmax_statistics) && sorts_rows(block);
  std::vector<Lifetime> all;
  if (!state.compiler.has(Habit::pads_to_tiles)) return all;
  for (const auto& op : block.operations) {
    const OperationId id = state.id_of(op);
    if (op.kind != OpKind::attention || schedule.recomputed[id] < 0) continue;
    const Tensor& query = block.tensors[op.inputs.front()];
    if (!wait && !kept && !are_copied_for_each_gradient(state, query, op.inputs.front())) continue;
    const std::int64_t rows =
        local_elements(query.dims, state.spec(op.inputs.front()), state.mesh) / query.dims.back().size;
    all.push_back({"softmax statistics", Bytes{rows * lanes * size_of(DType::f32)}, schedule.recomputed[id],
                   schedule.backward_begins[id]});
  }
  return all;
}

}  // namespace shardplan
