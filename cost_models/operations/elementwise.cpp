// Elementwise operations on tensors of the result's dims, or parameters of some of them. `add` is linear: its gradient
// reads nothing.
#include <cost_models/operations/operation_kinds.hpp>

namespace shardplan {
namespace {

class Elementwise : public OperationKind {
 public:
  void forward(BlockState& state, const Operation& op, Pass pass) const override {
    for (const TensorId input : op.inputs) state.forms.use(input, state.aligned(input, op.output), pass, op);
  }

  void backward(BlockState& state, const Operation& op) const override { contribute_elementwise(state, op); }

  std::vector<TensorId> read_by_gradient(const Block&, const Operation& op) const override { return op.inputs; }

  bool works_in_place() const override { return true; }
};

class Add final : public Elementwise {
 public:
  std::vector<TensorId> read_by_gradient(const Block&, const Operation&) const override { return {}; }
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
