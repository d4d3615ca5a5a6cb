// Elementwise operations on tensors of the result's dims, or parameters of some of them. `add` is linear: its gradient
// reads nothing.
#include <algorithm>
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

  /// XLA runs a chain of elementwise operations inside the kernel that produces the chain's main input: that tensor is
  /// neither written nor read again, the result is written in its place. A residual add of three 100 B tensors moves
  /// 300 - 2·100 = 100 B, the other operand. A mask made from small routing weights is still written in full.
  OperationWork work(const BlockState& state, const Operation& op) const override {
    Bytes main_input;
    for (const TensorId input : op.inputs)
      if (!state.tensor(input).parameter) main_input = std::max(main_input, state.local(input));
    OperationWork work = unfused_work(state, op);
    work.forward_traffic -= std::min(main_input, state.local(op.output)) * 2;
    work.backward_traffic = work.forward_traffic * 2;
    return work;
  }

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
