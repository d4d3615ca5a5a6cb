// The loss: inputs {logits}; softmax statistics over the vocabulary. Its gradient reads its own float32 copy of the
// logits, which it makes again.
#include <cost_models/operations/operation_kinds.hpp>
#include <cost_models/vector_work/vector_costs.hpp>

namespace shardplan {
namespace {

class CrossEntropy final : public OperationKind {
 public:
  void forward(BlockState& state, const Operation& op, Pass pass) const override {
    reduce_statistics(state, op, BlockState::phase_of(pass));
  }

  void backward(BlockState& state, const Operation& op) const override {
    const TensorId logits = op.inputs.front();
    state.gradients.contribute(logits, {state.spec(logits), {}}, op);
  }

  OperationWork work(const BlockState& state, const Operation& op) const override {
    OperationWork work;
    add_vector_work(work, state, VectorKernel::loss, op.inputs.front());
    return work;
  }

  TensorIds read_by_gradient(const Block&, const Operation&) const override { return {}; }
  bool gradient_recomputes() const override { return true; }
};

}  // namespace

const OperationKind& cross_entropy_kind() {
  static const CrossEntropy kind;
  return kind;
}

}  // namespace shardplan
