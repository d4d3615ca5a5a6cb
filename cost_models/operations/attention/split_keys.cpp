#include <cost_models/layouts/layout.hpp>
#include <cost_models/operations/attention/attention_heads.hpp>
#include <cost_models/operations/attention/split_keys.hpp>

namespace shardplan {
namespace {

int sequence_of(const BlockState& state, TensorId id) { return index_of(state.tensor(id).dims, Dim::sequence); }

PartitionSpec whole(const BlockState& state, TensorId id) {
  PartitionSpec spec = state.spec(id);
  spec.dims[sequence_of(state, id)].clear();
  return spec;
}

PartitionSpec split(const BlockState& state, TensorId id, const AxisList& axes) {
  PartitionSpec spec = state.spec(id);
  spec.dims[sequence_of(state, id)] = axes;
  return spec;
}

/// Heads x all queries of a device's sequences.
std::int64_t rows_of_queries(const BlockState& state, TensorId query) {
  return local_elements(state.tensor(query).dims, whole(state, query), state.mesh) / state.tensor(query).dims.back().size;
}

/// All queries of a device's sequences: of a mesh with more devices than heads no fewer.
std::int64_t queries_of_a_head(const BlockState& state, TensorId query) {
  Dims dims = state.tensor(query).dims;
  PartitionSpec spec = whole(state, query);
  for (const int other : {heads_dim(state.tensor(query)), static_cast<int>(dims.size()) - 1}) {
    dims[other].size = 1;
    spec.dims[other].clear();
  }
  return local_elements(dims, spec, state.mesh);
}

struct Exchange {
  BlockState& state;
  const Operation& op;
  AxisList axes;
  Phase phase;

  void record(CollectiveKind kind, std::int64_t elements, DType dtype, std::int64_t times = 1) const {
    state.recorder.record(phase, {kind, axes, Bytes{elements * size_of(dtype)}},
                          {state.id_of(op), op.inputs.front(), Cause::attention_scores}, {RunCount::body, times});
  }
};

}  // namespace

AxisList axes_of_split_keys(const BlockState& state, const Operation& op) {
  if (!state.compiler.has(Habit::splits_keys_of_single_queries)) return {};
  if (state.config.attention != AttentionKernel::dot_product) return {};
  const TensorId query = op.inputs[0];
  const int sequence = sequence_of(state, query);
  if (sequence < 0 || sequence_of(state, op.inputs[1]) < 0 || groups_queries(state, op)) return {};
  return state.spec(query).dims[sequence];
}

void attend_to_split_keys(BlockState& state, const Operation& op, Pass pass) {
  const AxisList axes = axes_of_split_keys(state, op);
  const TensorId query = op.inputs[0];
  state.forms.use(query, whole(state, query), pass, op);
  for (const int own : {1, 2}) state.forms.use(op.inputs[own], split(state, op.inputs[own], axes), pass, op);
  const std::int64_t rows = rows_of_queries(state, query);
  const Exchange exchange{state, op, axes, BlockState::phase_of(pass)};
  exchange.record(CollectiveKind::all_reduce, rows, state.tensor(query).dtype);
  exchange.record(CollectiveKind::reduce_scatter, rows, DType::f32);
  const Layout parts{whole(state, op.output), axes};
  state.recorder.record_all(BlockState::phase_of(pass),
                            reshard(state.tensor(op.output), parts, state.spec(op.output), state.mesh, state.compiler),
                            {state.id_of(op), op.output, Cause::result_layout, parts, state.spec(op.output)},
                            RunCount::body);
}

void return_from_split_keys(BlockState& state, const Operation& op) {
  const AxisList axes = axes_of_split_keys(state, op);
  const TensorId query = op.inputs[0], key = op.inputs[1], value = op.inputs[2];
  state.forms.use_gradient(op.output, whole(state, op.output), op);
  for (const TensorId input : {key, value}) state.forms.use(input, whole(state, input), Pass::backward, op);
  const DType dtype = state.tensor(query).dtype;
  const std::int64_t rows = rows_of_queries(state, query), keys = state.program.program->sequence / state.mesh.product(axes);
  const Exchange exchange{state, op, axes, Phase::backward};
  exchange.record(CollectiveKind::all_to_all, rows * keys, dtype, 2);
  exchange.record(CollectiveKind::all_to_all, queries_of_a_head(state, query) * keys, DType::pred);
  exchange.record(CollectiveKind::reduce_scatter, rows, dtype);
  exchange.record(CollectiveKind::all_gather, rows, dtype);
  state.gradients.contribute(query, {state.spec(query), {}}, op);
  // Their constraints want them whole, which nobody asks of gradients.
  const TensorId made_key = state.forms.root(key), made_value = state.forms.root(value);
  state.gradients.contribute(made_key, {whole(state, made_key), axes}, op);
  state.gradients.contribute(made_value, {split(state, made_value, axes), {}}, op);
}

}  // namespace shardplan
