// Norms over the last dim: inputs {x, scale}.
#include <cost_models/operations/operation_kinds.hpp>
#include <cost_models/vector_work/vector_costs.hpp>

namespace shardplan {
namespace {

class Normalization final : public OperationKind {
 public:
  void forward(BlockState& state, const Operation& op, Pass pass) const override {
    for (const TensorId input : op.inputs) state.forms.use(input, state.aligned(input, op.output), pass, op);
    reduce_statistics(state, op, BlockState::phase_of(pass));
  }

  void backward(BlockState& state, const Operation& op) const override {
    reduce_statistics(state, op, Phase::backward);
    contribute_elementwise(state, op);
  }

  OperationWork work(const BlockState& state, const Operation& op) const override {
    OperationWork work;
    add_vector_work(work, state, VectorKernel::normalization, op.output);
    const VectorKernels& kernels = state.compiler.vector_kernels;
    VectorCost scaling = kernels.of(VectorKernel::beside_product).forward;
    scaling.operands *= 2;
    if (kernels.fuses_into_products)
      work.fused_forward = vector_work(scaling, vector_elements(state, op.output), state.tensor(op.output).dtype);
    return work;
  }

  TensorIds read_by_gradient(const Block&, const Operation& op) const override { return op.inputs; }

  /// All streams of the hidden state are one row of the norm, which its gradient reads in float32, an array of its own
  /// (recorded: ds4x7_v5p8_fsdp8).
  std::vector<Lifetime> buffers(const BlockState& state, const Schedule& schedule, OperationId id) const override {
    const TensorId x = state.block.operations[id].inputs.front();
    const Tensor& row = state.tensor(x);
    if (!schedule.has_backward(id) || index_of(row.dims, Dim::streams) < 0) return {};
    return {{{x, " in float32"}, Bytes{local_elements(row.dims, state.spec(x), state.mesh) * size_of(DType::f32)},
             schedule.held_from(state.block, id), schedule.backward_begins[id]}};
  }
};

}  // namespace

const OperationKind& normalization_kind() {
  static const Normalization kind;
  return kind;
}

}  // namespace shardplan
