#include <algorithm>
#include <cost_models/layouts/layout.hpp>
#include <cost_models/layouts/tiles.hpp>
#include <cost_models/operations/attention/attention_heads.hpp>
#include <cost_models/operations/attention/moving_sequence.hpp>
#include <cost_models/vector_work/vector_costs.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

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

PartitionSpec form_of(const BlockState& state, TensorId tensor) {
  return with_whole_sequences(state, tensor, state.spec(tensor));
}

/// Of keys or values.
std::int64_t elements_of(const BlockState& state, TensorId tensor) {
  return local_elements(state.tensor(tensor).dims, form_of(state, tensor), state.mesh);
}

Bytes bytes_of(const BlockState& state, TensorId tensor) {
  return local_bytes(state.tensor(tensor), form_of(state, tensor), state.mesh);
}

std::int64_t devices_of_ring(const BlockState& state, const Operation& op) {
  return state.mesh.product(ring_of(state, op.inputs[1], form_of(state, op.inputs[1])));
}

void permute(BlockState& state, const Operation& op, TensorId part, Phase phase, Bytes bytes, std::int64_t times) {
  state.recorder.record(phase, {CollectiveKind::collective_permute, ring_of(state, part, form_of(state, part)), bytes},
                        {state.id_of(op), part, Cause::attention_ring}, {RunCount::body, times});
}

}  // namespace

bool is_opaque(const BlockState& state) {
  const AttentionKernel kernel = state.config.attention;
  return state.compiler.has(Habit::attention_outside_shard_map) &&
         (kernel == AttentionKernel::flash || kernel == AttentionKernel::autoselected);
}

bool moves_sequence(const BlockState& state) {
  return state.config.context_parallel_strategy != ContextStrategy::all_gather &&
         state.config.attention != AttentionKernel::dot_product && !is_opaque(state);
}

PartitionSpec with_whole_sequences(const BlockState& state, TensorId id, PartitionSpec spec) {
  if (!moves_sequence(state)) return spec;
  const Tensor& tensor = state.tensor(id);
  const int sequence = index_of(tensor.dims, Dim::sequence), heads = heads_dim(tensor);
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

std::int64_t keys_at_once(const BlockState& state, const Operation& op) {
  return state.program.program->sequence / devices_of_ring(state, op);
}

void pass_round(BlockState& state, const Operation& op, Phase phase) {
  for (const TensorId part : {op.inputs[1], op.inputs[2]})
    permute(state, op, part, phase, bytes_of(state, part), devices_of_ring(state, op));
}

void pass_gradients_round(BlockState& state, const Operation& op) {
  for (const TensorId part : {op.inputs[1], op.inputs[2]}) {
    const Bytes summed{elements_of(state, part) * size_of(DType::f32)};
    permute(state, op, part, Phase::backward, summed, devices_of_ring(state, op) - 1);
    permute(state, op, part, Phase::backward, bytes_of(state, part), 1);
  }
}

// Of the results: their sum read and written, the part read in two bytes, and each row's maximum and sum, which fill a
// register's width. Of the queries' gradient: its sum read and written, and the kernel's partial sums.
void add_ring_work(OperationWork& work, const BlockState& state, const Operation& op) {
  const TensorId query = op.inputs[0], keys = op.inputs[1], values = op.inputs[2];
  const double parts = static_cast<double>(devices_of_ring(state, op));
  if (parts < 2) return;
  const double moved = parts * static_cast<double>(elements_of(state, keys) + elements_of(state, values));
  const double rows = parts * static_cast<double>(elements_of(state, query));
  const double width = static_cast<double>(state.tensor(query).dims.back().size);
  const PartialGradients partial = partial_query_gradients(state.config, keys_at_once(state, op));
  const double partial_operands = static_cast<double>(partial.count) * (partial.in_float32 ? 1 : 0.5);
  const VectorWork copied = vector_work({1, 2}, moved, state.tensor(keys).dtype);
  work.vector_forward += copied;
  work.vector_forward += vector_work({1, 2.5 + 2 * lanes / width}, rows, DType::f32);
  work.vector_backward += copied;
  work.vector_backward += vector_work({1, 3}, moved, DType::f32);
  work.vector_backward += vector_work({1, 2 + partial_operands}, rows, DType::f32);
}

namespace {

/// In float32 (MaxText kernels/tokamax_splash_attention/ring_attention_kernel.py, _ring_attention_bwd): the gradient of the
/// result, which all parts read, the queries' gradient as it is added up, and what one part adds.
std::vector<Lifetime> ring_sums(const BlockState& state, const Schedule& schedule, OperationId id) {
  const Operation& op = state.block.operations[id];
  const int begins = schedule.backward_begins[id], ends = schedule.backward_ends[id];
  const Bytes queries{elements_of(state, op.inputs[0]) * size_of(DType::f32)};
  return {{{op.output, " gradient in float32"}, Bytes{elements_of(state, op.output) * size_of(DType::f32)}, begins, ends},
          {"query gradient, added up", queries, begins, ends},
          {"query gradient of a part", queries, begins, ends}};
}

}  // namespace

std::vector<Lifetime> ring_buffers(const BlockState& state, const Schedule& schedule, OperationId id) {
  const Operation& op = state.block.operations[id];
  if (devices_of_ring(state, op) < 2) return {};
  const TensorId keys = op.inputs[1], values = op.inputs[2];
  const Bytes coming = bytes_of(state, keys) + bytes_of(state, values);
  std::vector<Lifetime> all;
  for (const int step : {schedule.forward[id], schedule.recomputed[id], schedule.backward_begins[id]})
    if (step >= 0) all.push_back({"keys and values on their way", coming, step, step});
  if (!schedule.has_backward(id)) return all;
  const Bytes gradients{(elements_of(state, keys) + elements_of(state, values)) * size_of(DType::f32)};
  all.push_back({"key and value gradients on their way", gradients * 2, schedule.backward_begins[id],
                 schedule.backward_ends[id]});
  for (const Lifetime& sum : ring_sums(state, schedule, id)) all.push_back(sum);
  return all;
}

}  // namespace shardplan
