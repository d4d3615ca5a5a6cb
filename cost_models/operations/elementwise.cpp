// Elementwise operations on tensors of the result's dims, or parameters of some of them. `add` is linear: its gradient
// reads nothing.
#include <cost_models/operations/operation_kinds.hpp>
#include <cost_models/layouts/tiles.hpp>

namespace shardplan {
namespace {

class Elementwise : public OperationKind {
 public:
  void forward(BlockState& state, const Operation& op, Pass pass) const override {
    for (const TensorId input : op.inputs) state.forms.use(input, state.aligned(input, op.output), pass, op);
  }

  void backward(BlockState& state, const Operation& op) const override { contribute_elementwise(state, op); }

  TensorIds read_by_gradient(const Block&, const Operation& op) const override { return op.inputs; }

  bool works_in_place() const override { return true; }

  /// Routed rows take the bias of their expert each, an array of as many rows (MaxText layers/moe.py, transform_bias); a
  /// gradient that reads its inputs reads it too (recorded: gptoss20bx4_v5p8_fsdp8).
  std::vector<Lifetime> buffers(const BlockState& state, const Schedule& schedule, OperationId id) const override {
    const Operation& op = state.block.operations[id];
    const Tensor& output = state.tensor(op.output);
    std::vector<Lifetime> all;
    if (schedule.has_backward(id) && state.block.beside_scan) return wide_rows(state, schedule, id);
    if (!schedule.has_backward(id) || index_of(output.dims, Dim::rows) < 0) return all;
    const int begins = schedule.held_from(state.block, id);
    const bool read_again = !read_by_gradient(state.block, op).empty();
    for (const TensorId input : op.inputs)
      if (state.tensor(input).role == TensorRole::bias)
        all.push_back({{input, " of each row"},
                       stored_bytes(output, state.spec(op.output), state.mesh, state.compiler), begins,
                       read_again ? std::max(begins, schedule.backward_begins[id]) : begins});
    return all;
  }

 private:
  /// The rows that a token's experts return are weighed and summed in float32; a layer that isn't recomputed keeps them so
  /// for its gradient (recorded: ds4x7_v5p8_fsdp8).
  static std::vector<Lifetime> wide_rows(const BlockState& state, const Schedule& schedule, OperationId id) {
    std::vector<Lifetime> all;
    if (!state.config.float32_weight_sum) return all;
    for (const TensorId input : state.block.operations[id].inputs) {
      const Tensor& rows = state.tensor(input);
      const bool returned = index_of(rows.dims, Dim::top_k) >= 0 && index_of(rows.dims, Dim::embed) >= 0;
      if (returned)
        all.push_back({{input, " in float32"},
                       Bytes{local_elements(rows.dims, state.spec(input), state.mesh) * size_of(DType::f32)},
                       schedule.forward[id], schedule.backward_begins[id]});
    }
    return all;
  }
};

class Add final : public Elementwise {
 public:
  TensorIds read_by_gradient(const Block&, const Operation&) const override { return {}; }
};

}  // namespace

const OperationKind& elementwise_kind() {
  static const Elementwise kind;
  return kind;
}

const OperationKind& add_kind() {
  static const Add kind;
  return kind;
}

}  // namespace shardplan
