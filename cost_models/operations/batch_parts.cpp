// Parts of the batch: each device splits its own sequences, so nothing moves, and the parts lie where the whole does.
#include <cost_models/operations/operation_kinds.hpp>

namespace shardplan {
namespace {

class BatchParts final : public OperationKind {
 public:
  void forward(BlockState&, const Operation&, Pass) const override {}

  void backward(BlockState& state, const Operation& op) const override {
    for (const TensorId input : op.inputs) state.gradients.contribute(input, {state.spec(op.output), {}}, op);
  }

  TensorIds read_by_gradient(const Block&, const Operation&) const override { return {}; }
  OperationWork work(const BlockState&, const Operation&) const override { return {}; }
  bool is_alias() const override { return true; }
};

}  // namespace

const OperationKind& split_batch_kind() {
  static const BatchParts kind;
  return kind;
}

const OperationKind& merge_batch_kind() {
  static const BatchParts kind;
  return kind;
}

}  // namespace shardplan
