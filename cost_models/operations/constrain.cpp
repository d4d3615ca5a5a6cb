// The same tensor under another constraint. Resharding happens when somebody reads the result.
#include <cost_models/operations/operation_kinds.hpp>

namespace shardplan {
namespace {

class Constrain final : public OperationKind {
 public:
  void forward(BlockState&, const Operation&, Pass) const override {}

  void backward(BlockState& state, const Operation& op) const override {
    if (!state.tensor(op.output).differentiable) return;  // stop_gradient
    if (state.gradients.pass_constraints()) return;
    state.gradients.contribute(op.inputs.front(), {state.spec(op.output), {}}, op);
  }

  TensorIds read_by_gradient(const Block&, const Operation&) const override { return {}; }
  OperationWork work(const BlockState&, const Operation&) const override { return {}; }
  bool is_alias() const override { return true; }
};

}  // namespace

const OperationKind& constrain_kind() {
  static const Constrain kind;
  return kind;
}

}  // namespace shardplan
