// The gated delta rule in chunks: inputs {queries, keys, values [batch, sequence, heads, dim], gates} (MaxText
// models/qwen3.py: jax_chunk_gated_delta_rule). All chunks first solve for what they write, each for itself; then the
// state [key dim, value dim] of each head passes from chunk to chunk.
#include <cost_models/operations/operation_kinds.hpp>
#include <cost_models/layouts/tiles.hpp>
#include <shardplan/rounding.hpp>

namespace shardplan {
namespace {

/// Sizes of one device's part.
struct Chunks {
  std::int64_t rows;         ///< tokens · heads
  std::int64_t in_sequence;  ///< chunks
  std::int64_t chunk, key_dim, value_dim;
};

Chunks chunks_of(const BlockState& state, const Operation& op) {
  const Tensor& key = state.tensor(op.inputs[1]);
  const PartitionSpec spec = state.aligned(op.inputs[1], op.output);
  const std::int64_t key_dim = key.dims.back().size;
  return {local_elements(key.dims, spec, state.mesh) / key_dim, divided_up(key.dims[1].size, op.chunk), op.chunk, key_dim,
          state.tensor(op.output).dims.back().size};
}

/// [rows, width], the width along the lanes.
Bytes row_buffer(const BlockState& state, std::int64_t rows, std::int64_t width, DType dtype) {
  Tensor tensor;
  tensor.dims = {{Dim::rows, rows}, {Dim::head_dim, width}};
  tensor.dtype = dtype;
  return stored_bytes(tensor, {{{}, {}}}, state.mesh, state.compiler);
}

/// The product of keys of each chunk, [sequences, chunks, heads, chunk, chunk]: the chunks of a sequence lie along the lanes
/// (bf16[16,32,32,64,64]{1,4,3,2,0} of plan_qwen3535ba3b_tpu7x_16, 512 MiB; on v5p and v6e alike).
Bytes key_products(const BlockState& state, const Chunks& c) {
  return row_buffer(state, c.rows * c.chunk / c.in_sequence, c.in_sequence, state.config.dtype);
}

/// What the scan over chunks keeps of each for its gradient, all float32 but three copies of keys and queries in the
/// order of chunks: queries as they are and decayed, keys likewise, what values are corrected by, the corrected values;
/// three triangles of scores; the state before the chunk. Beside them the triangle that was inverted, its inverse, and
/// the product of keys it was made of. (Recorded: the operands of the gradient's loop, and what lives across it, in the
/// rule compiled alone for v5p with libtpu 0.0.50.1.)
Bytes kept_for_gradient(const BlockState& state, const Chunks& c) {
  const auto rows = [&](std::int64_t width, DType dtype) { return row_buffer(state, c.rows, width, dtype); };
  const Bytes states{c.rows / c.chunk * c.key_dim * c.value_dim * size_of(DType::f32)};
  return rows(c.key_dim, DType::f32) * 5 + rows(c.value_dim, DType::f32) + rows(c.chunk, DType::f32) * 5 +
         rows(c.key_dim, state.config.dtype) * 3 + key_products(state, c) + states;
}

/// While it runs: the gradient of its result in float32, those of what the chunks write.
Bytes gradient_scratch(const BlockState& state, const Chunks& c) {
  return row_buffer(state, c.rows, c.value_dim, DType::f32) + row_buffer(state, c.rows, c.key_dim, state.config.dtype) +
         row_buffer(state, c.rows, c.value_dim, state.config.dtype);
}

/// Inside shard_map: each device has whole sequences of its heads.
class DeltaRule final : public OperationKind {
 public:
  void forward(BlockState& state, const Operation& op, Pass pass) const override {
    for (const TensorId input : op.inputs) state.forms.use(input, state.aligned(input, op.output), pass, op);
  }

  void backward(BlockState& state, const Operation& op) const override {
    for (const TensorId input : op.inputs) state.forms.use(input, state.aligned(input, op.output), Pass::backward, op);
    contribute_elementwise(state, op);
  }

  TensorIds read_by_gradient(const Block&, const Operation& op) const override { return op.inputs; }

  /// A token of a head, in multiply-adds: keys with the chunk's keys and queries with them; the inverse of the chunk's
  /// triangle and what it makes of values and keys; the triangle of scores with the new values; the state read twice and
  /// written once. Precision::HIGHEST multiplies float32 in six bf16 passes.
  OperationWork work(const BlockState& state, const Operation& op) const override {
    const auto [rows, in_sequence, chunk, key_dim, value_dim] = chunks_of(state, op);
    constexpr std::int64_t passes = 6;
    const std::int64_t in_bf16 = 2 * chunk * key_dim;
    const std::int64_t in_float32 =
        chunk * chunk + chunk * (key_dim + value_dim) + chunk * value_dim + 3 * key_dim * value_dim;
    OperationWork work;
    work.kind = WorkKind::matmul;
    work.forward_traffic = operand_traffic(state, op);
    work.backward_traffic = work.forward_traffic * 2;
    work.forward = {2 * static_cast<double>(rows) * static_cast<double>(in_bf16 + passes * in_float32)};
    work.backward = work.forward * 2;
    return work;
  }

  std::vector<Lifetime> buffers(const BlockState& state, const Schedule& schedule, OperationId id) const override {
    if (!schedule.has_backward(id)) return {};
    const Chunks chunks = chunks_of(state, state.block.operations[id]);
    const int begins = schedule.backward_begins[id], ends = schedule.backward_ends[id];
    const int written = schedule.held_from(state.block, id);
    return {{"delta rule, kept of each chunk", kept_for_gradient(state, chunks), written, ends},
            {"delta rule, gradients inside", gradient_scratch(state, chunks), begins, ends}};
  }
};

}  // namespace

const OperationKind& delta_rule_kind() {
  static const DeltaRule kind;
  return kind;
}

}  // namespace shardplan
