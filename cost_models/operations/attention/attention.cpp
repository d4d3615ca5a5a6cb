// softmax(q·kT)·v, causal: inputs {q, k, v}.
#include <cost_models/layouts/tiles.hpp>
#include <cost_models/operations/attention/attention_heads.hpp>
#include <cost_models/operations/attention/held_scores.hpp>
#include <cost_models/operations/attention/moving_sequence.hpp>
#include <cost_models/operations/attention/splash_loops.hpp>
#include <cost_models/operations/attention/split_keys.hpp>
#include <cost_models/operations/operation_kinds.hpp>
#include <cost_models/vector_work/vector_costs.hpp>
#include <shardplan/attention/kernel_limits.hpp>

namespace shardplan {
namespace {

/// Inside of a shard_map a kernel works on the shards that its constraints give it, or exchanges them there for heads of
/// whole sequences; outside its operands are gathered whole.
PartitionSpec attention_form(const BlockState& state, TensorId input) {
  if (!is_opaque(state)) return with_whole_sequences(state, input, state.spec(input));
  PartitionSpec whole;
  whole.dims.resize(state.spec(input).dims.size());
  return whole;
}

bool holds_scores(const BlockState& state) { return state.config.attention == AttentionKernel::dot_product; }

AttentionWindow window_of(const BlockState& state, const Operation& op) {
  const bool knows = knows_window(state.compiler.kernels, state.config, op.attention_window.shape);
  return knows ? op.attention_window : AttentionWindow{};
}

/// Devices that have runs of the sequence's queries.
std::int64_t slices_of_queries(const BlockState& state, const Operation& op) {
  const TensorId query = op.inputs.front();
  const int sequence = index_of(state.tensor(query).dims, Dim::sequence);
  return sequence < 0 ? 1 : state.mesh.product(attention_form(state, query).dims[sequence]);
}

/// Without load balance a device has one run of queries, and the last has the most keys before it: all wait for that one
/// (layers/attention_op.py swaps runs where context_parallel_load_balance says so).
double busiest_device(const BlockState& state, const Operation& op) {
  if (state.config.context_parallel_load_balance) return 1;
  return busiest_slice(state.program.program->sequence, window_of(state, op), slices_of_queries(state, op));
}

/// A kernel that doesn't skip masked blocks (dot_product) works on all keys.
double multiplied_keys(const BlockState& state, const Operation& op) {
  const std::int64_t sequence = state.program.program->sequence;
  if (holds_scores(state)) return static_cast<double>(sequence + op.pooled_keys);
  return attended_keys(sequence, window_of(state, op)) * busiest_device(state, op) +
         static_cast<double>(op.pooled_keys) / 2;
}

/// Heads × queries that this device has.
double score_rows(const BlockState& state, const Operation& op) {
  const Tensor& query = state.tensor(op.inputs[0]);
  return static_cast<double>(local_elements(query.dims, attention_form(state, op.inputs[0]), state.mesh)) /
         static_cast<double>(query.dims.back().size);
}

double mean_head_dim(const BlockState& state, const Operation& op) {
  return static_cast<double>(state.tensor(op.inputs[0]).dims.back().size + state.tensor(op.inputs[2]).dims.back().size) / 2;
}

/// 2·b·h·s·keys·(qk dim + v dim): the two products of attention, on the queries that this device has.
double attention_flops(const BlockState& state, const Operation& op) {
  return 4 * score_rows(state, op) * multiplied_keys(state, op) * mean_head_dim(state, op);
}

HeldScores held_scores(const BlockState& state, const Operation& op) {
  return {score_rows(state, op), multiplied_keys(state, op),
          op.wide_scores ? DType::f32 : state.tensor(op.inputs[0]).dtype, groups_queries(state, op),
          op.caps_scores, !axes_of_split_keys(state, op).empty()};
}

/// The mask says which blocks splash attention visits; keys beside the sequence's own make other loops.
bool has_splash_loops(const BlockState& state, const Operation& op) {
  return runs_splash(state.config, state.compiler) && op.pooled_keys == 0;
}

/// An indexer's: of all causal blocks some keys are left out, so that each reads its part of the mask.
bool is_mask_data(const Operation& op) { return op.selected_keys > 0; }

void add_splash_loops(OperationWork& work, const BlockState& state, const Operation& op) {
  const std::int64_t sequence = state.program.program->sequence;
  const SplashOperands operands{sequence,
                                keys_at_once(state, op),
                                op.attention_window,
                                state.tensor(op.inputs[0]).dims.back().size,
                                state.tensor(op.inputs[2]).dims.back().size,
                                score_rows(state, op) / static_cast<double>(sequence) * busiest_device(state, op),
                                is_mask_data(op)};
  SplashLoops loops = splash_loops(operands, state.config);
  work.forward_loops = std::move(loops.forward);
  work.backward_loops = std::move(loops.backward);
}

OperationWork attention_work(const BlockState& state, const Operation& op) {
  OperationWork work;
  work.kind = WorkKind::attention;
  work.forward = {attention_flops(state, op)};
  work.attention = {multiplied_keys(state, op), mean_head_dim(state, op)};
  if (has_splash_loops(state, op)) add_splash_loops(work, state, op);
  if (moves_sequence(state)) add_ring_work(work, state, op);
  // Five products against two: a kernel computes the probabilities again. dot_product has them from its own forward pass
  // (compiled: six products in the loops' backward pass, two of them again; cost-model.md).
  work.backward = work.forward * (holds_scores(state) ? 2 : 2.5);
  work.forward_traffic = operand_traffic(state, op);
  work.backward_traffic = work.forward_traffic * 2;
  return work;
}

/// Of the queries' gradient: 2 sequences of 8192 tokens in blocks of 2048 keys are 4 of them.
Bytes partial_sums(const BlockState& state, const Operation& op) {
  const Tensor& query = state.tensor(op.inputs[0]);
  const PartialGradients partial = partial_query_gradients(state.config, keys_at_once(state, op));
  const std::int64_t size = size_of(partial.in_float32 ? DType::f32 : query.dtype);
  const auto rows = static_cast<std::int64_t>(score_rows(state, op));
  return Bytes{rows * static_cast<std::int64_t>(register_lanes(query.dims.back().size)) * size * partial.count};
}

/// Rotary positions of queries or keys, in the layout that the kernel reads.
void add_rotation(OperationWork& work, const BlockState& state, const Operation& op, TensorId heads) {
  switch (op.rotation) {
    case Rotation::none:
      return;
    case Rotation::halves:
      return add_vector_work(work, state, VectorKernel::rotation, heads);
    case Rotation::interleaved:
      return add_vector_work(work, state, VectorKernel::interleaved_rotation, heads);
  }
}

void gather_attention_mask(BlockState& state, const Operation& op, Pass pass) {
  const TensorId query = op.inputs.front();
  const std::int64_t sequence = state.program.program->sequence;
  Tensor mask;
  mask.dtype = DType::pred;
  mask.dims = {state.tensor(query).dims[0], {Dim::sequence, sequence}, {Dim::position, sequence}};
  const PartitionSpec whole{{{}, {}, {}}};
  state.recorder.record(BlockState::phase_of(pass),
                        {CollectiveKind::all_gather, state.split_axes(query, {Dim::batch}),
                         local_bytes(mask, whole, state.mesh)},
                        {state.id_of(op), query, Cause::attention_mask, {}, whole}, RunCount::body);
}

/// From the layout that the kernel writes it in; what it leaves for the backward pass is still in that one.
void return_result(BlockState& state, const Operation& op, Pass pass) {
  const Layout written{attention_form(state, op.output), {}};
  const PartitionSpec& wanted = state.spec(op.output);
  state.recorder.record_all(BlockState::phase_of(pass),
                            reshard(state.tensor(op.output), written, wanted, state.mesh, state.compiler),
                            {state.id_of(op), op.output, Cause::result_layout, written, wanted}, RunCount::body);
}

class Attention final : public OperationKind {
 public:
  void forward(BlockState& state, const Operation& op, Pass pass) const override {
    if (!axes_of_split_keys(state, op).empty()) return attend_to_split_keys(state, op, pass);
    for (const TensorId input : op.inputs) state.forms.use(input, attention_form(state, input), pass, op);
    const TensorId query = op.inputs.front();
    const bool gathered = is_opaque(state) && attention_form(state, query) != state.spec(query);
    if (gathered) gather_attention_mask(state, op, pass);
    if (!moves_sequence(state)) return;
    pass_round(state, op, BlockState::phase_of(pass));
    return_result(state, op, pass);
  }

  /// Queries split over an axis that keys are whole on: each device has a part of the key gradient's sum.
  void backward(BlockState& state, const Operation& op) const override {
    if (!axes_of_split_keys(state, op).empty()) return return_from_split_keys(state, op);
    state.forms.use_gradient(op.output, attention_form(state, op.output), op);
    const PartitionSpec queries = attention_form(state, op.inputs.front());
    for (const TensorId input : op.inputs) {
      const PartitionSpec form = attention_form(state, input);
      const bool again = state.forms.use(input, form, Pass::backward, op);  // if the kernel wasn't recomputed
      if (again && moves_sequence(state) && input == op.inputs.front()) return_result(state, op, Pass::backward);
      Layout gradient{form, {}};
      for (const AxisId axis : axes_of(queries))
        if (place_of(axis, gradient.spec) < 0) gradient.partial.push_back(axis);
      state.gradients.contribute(input, gradient, op);
    }
    if (!moves_sequence(state)) return;
    pass_round(state, op, Phase::backward);
    pass_gradients_round(state, op);
  }

  /// The flash kernel's gradient reads its output too.
  TensorIds read_by_gradient(const Block&, const Operation& op) const override {
    TensorIds reads = op.inputs;
    reads.push_back(op.output);
    return reads;
  }

  OperationWork work(const BlockState& state, const Operation& op) const override {
    const bool apart = holds_scores(state) && !state.compiler.vector_kernels.fuses_into_products;
    OperationWork work = attention_work(state, op);
    if (apart) multiply_scores(work, state, op, held_scores(state, op));
    for (const int rotated : {0, 1}) add_rotation(work, state, op, op.inputs[rotated]);
    return work;
  }

  std::vector<Lifetime> buffers(const BlockState& state, const Schedule& schedule, OperationId id) const override {
    const Operation& op = state.block.operations[id];
    return holds_scores(state) ? score_buffers(state, schedule, id, held_scores(state, op))
                               : kernel_buffers(state, schedule, id);
  }

 private:
  static std::vector<Lifetime> kernel_buffers(const BlockState& state, const Schedule& schedule, OperationId id) {
    std::vector<Lifetime> all = statistics(state, schedule, id);
    const Operation& op = state.block.operations[id];
    const bool fuses = state.config.fuses_attention_gradients() && has_splash_loops(state, op);
    if (fuses && schedule.has_backward(id))
      all.push_back({"query gradient, not summed", partial_sums(state, op), schedule.backward_begins[id],
                     schedule.backward_ends[id]});
    if (!moves_sequence(state)) return all;
    for (const Lifetime& buffer : ring_buffers(state, schedule, id)) all.push_back(buffer);
    return all;
  }

  /// Under a mask the kernel leaves its gradient the largest score and the sum of each query and head, in float32 and a
  /// whole row of lanes each (recorded: ds4x7_v5p8_fsdp8).
  static std::vector<Lifetime> statistics(const BlockState& state, const Schedule& schedule, OperationId id) {
    constexpr std::int64_t numbers = 2;
    const Operation& op = state.block.operations[id];
    const bool masked = op.inputs.size() > 3;
    if (!masked || !schedule.has_backward(id) || !state.compiler.has(Habit::pads_to_tiles)) return {};
    const TensorId query = op.inputs.front();
    const std::int64_t rows =
        local_elements(state.tensor(query).dims, state.spec(query), state.mesh) / state.tensor(query).dims.back().size;
    const Bytes held{rows * numbers * lanes * size_of(DType::f32)};
    return {{"attention statistics", held, schedule.held_from(state.block, id), schedule.backward_begins[id]}};
  }
};

}  // namespace

const OperationKind& attention_kind() {
  static const Attention kind;
  return kind;
}

}  // namespace shardplan
