#include <algorithm>
#include <cost_models/layouts/layout.hpp>
#include <cost_models/layouts/tiles.hpp>
#include <cost_models/operations/attention/moving_sequence.hpp>
#include <cost_models/vector_work/vector_costs.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

int heads_of(const Tensor& tensor) {
  return std::max(index_of(tensor.dims, Dim::q_heads), index_of(tensor.dims, Dim::kv_heads));
}

bool leaves_for_heads(AxisId axis, const BlockState& state) {
  switch (state.config.context_parallel_strategy) {
    case ContextStrategy::all_gather:
    case ContextStrategy::ring:
      return false;
    case ContextStrategy::ulysses:
      return true;
    case ContextStrategy::usp:
      return state.mesh.axes[axis].role == AxisRole::context_usp_ulysses;
  }
  throw InternalError("unknown ContextStrategy");
}

void permute(BlockState& state, const Operation& op, TensorId keys, const PartitionSpec& form, Phase phase, Bytes bytes,
             std::int64_t times) {
  state.recorder.record(phase, {CollectiveKind::collective_permute, ring_of(state, keys, form), bytes},
                        {state.id_of(op), keys, Cause::attention_ring}, {RunCount::body, times});
}

std::int64_t devices_of(const BlockState& state, TensorId keys, const PartitionSpec& form) {
  return state.mesh.product(ring_of(state, keys, form));
}

std::int64_t elements_of(const BlockState& state, TensorId keys, const PartitionSpec& form) {
  return local_elements(state.tensor(keys).dims, form, state.mesh);
}

}  // namespace

PartitionSpec with_whole_sequences(const BlockState& state, TensorId id, PartitionSpec spec) {
  if (!moves_sequence(state)) return spec;
  const Tensor& tensor = state.tensor(id);
  const int sequence = index_of(tensor.dims, Dim::sequence), heads = heads_of(tensor);
  if (sequence < 0 || heads < 0) return spec;
  AxisList stay;
  for (const AxisId axis : spec.dims[sequence])
    (leaves_for_heads(axis, state) ? spec.dims[heads] : stay).push_back(axis);
  spec.dims[sequence] = stay;
  return spec;
}

AxisList ring_of(const BlockState& state, TensorId keys, const PartitionSpec& form) {
  const int sequence = index_of(state.tensor(keys).dims, Dim::sequence);
  if (!moves_sequence(state) || sequence < 0) return {};
  return form.dims[sequence];
}

void pass_round(BlockState& state, const Operation& op, TensorId keys, const PartitionSpec& form, Phase phase) {
  permute(state, op, keys, form, phase, local_bytes(state.tensor(keys), form, state.mesh), devices_of(state, keys, form));
}

void pass_gradient_round(BlockState& state, const Operation& op, TensorId keys, const PartitionSpec& form) {
  const std::int64_t elements = elements_of(state, keys, form), devices = devices_of(state, keys, form);
  permute(state, op, keys, form, Phase::backward, Bytes{elements * size_of(DType::f32)}, devices - 1);
  permute(state, op, keys, form, Phase::backward, local_bytes(state.tensor(keys), form, state.mesh), 1);
}

// Of the results: their sum read and written, the part read in two bytes, and each row's maximum and sum, which fill a
// register's width. Of the queries' gradient: its sum read and written, and the kernel's partial sums.
void add_ring_work(OperationWork& work, const BlockState& state, const Operation& op, const PartitionSpec& form) {
  const TensorId query = op.inputs[0], keys = op.inputs[1];
  const double parts = static_cast<double>(devices_of(state, keys, form));
  if (parts < 2) return;
  const double moved = 2 * parts * static_cast<double>(elements_of(state, keys, form));
  const double rows = parts * static_cast<double>(elements_of(state, query, state.spec(query)));
  const double width = static_cast<double>(state.tensor(query).dims.back().size);
  const std::int64_t length = state.program.program->sequence / devices_of(state, keys, form);
  const PartialGradients partial = partial_query_gradients(state.config, length);
  const double partial_operands = static_cast<double>(partial.count) * (partial.in_float32 ? 1 : 0.5);
  const VectorWork copied = vector_work({1, 2}, moved, state.tensor(keys).dtype);
  work.vector_forward += copied;
  work.vector_forward += vector_work({1, 2.5 + 2 * lanes / width}, rows, DType::f32);
  work.vector_backward += copied;
  work.vector_backward += vector_work({1, 3}, moved, DType::f32);
  work.vector_backward += vector_work({1, 2 + partial_operands}, rows, DType::f32);
}

std::vector<Lifetime> ring_buffers(const BlockState& state, const Schedule& schedule, OperationId id,
                                   const PartitionSpec& form) {
  const TensorId keys = state.block.operations[id].inputs[1];
  if (devices_of(state, keys, form) < 2) return {};
  const Bytes parts = local_bytes(state.tensor(keys), form, state.mesh) * 2;
  std::vector<Lifetime> all = {{"keys and values on their way", parts, schedule.forward[id], schedule.forward[id]}};
  const int again = schedule.recomputed[id];
  if (again >= 0) all.push_back({"keys and values on their way", parts, again, again});
  if (!schedule.has_backward(id)) return all;
  const int begins = schedule.backward_begins[id], ends = schedule.backward_ends[id];
  const Bytes gradients{elements_of(state, keys, form) * size_of(DType::f32) * 2};
  all.push_back({"keys and values on their way", parts, begins, ends});
  all.push_back({"key and value gradients on their way", gradients * 2, begins, ends});
  return all;
}

}  // namespace shardplan
