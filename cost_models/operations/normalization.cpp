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

  TensorIds read_by_gradient(const Block&, const Operation& op) const override { return inputs_of(op); }
};

}  // namespace

const OperationKind& normalization_kind() {
  static const Normalization kind;
  return kind;
}

}  // namespace shardplan
