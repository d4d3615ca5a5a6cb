#include <cost_models/partition/liveness.hpp>
#include <shardplan/error.hpp>

namespace shardplan {

std::vector<TensorId> read_by_gradient(const Block& block, const Operation& op) {
  std::vector<TensorId> reads;
  switch (op.kind) {
    case OpKind::einsum:  // the gradient of each operand reads the other
      for (int side = 0; side < 2; ++side)
        if (block.tensors[op.inputs[1 - side]].differentiable) reads.push_back(op.inputs[side]);
      return reads;
    case OpKind::elementwise:
    case OpKind::normalization:
      return op.inputs;
    case OpKind::attention:  // the flash kernel's gradient reads its output too
      reads = op.inputs;
      reads.push_back(op.output);
      return reads;
    case OpKind::routing:
    case OpKind::ragged_dispatch:  // permutations come from the router
    case OpKind::ragged_return:
    case OpKind::ring_dispatch:
      return {op.inputs.back()};
    case OpKind::ring_return:
      return op.inputs;          // the weighted sum reads rows and weights
    case OpKind::cross_entropy:  // reads its own float32 copy of the logits
    case OpKind::add:
    case OpKind::constrain:
    case OpKind::lookup:
      return {};
  }
  throw InternalError("unknown OpKind");
}

namespace {

class Tracing {
 public:
  Tracing(const Block& block, const std::map<std::string, SavePlace>& places) : block_(block), places_(places) {
    result_.needed.assign(block.tensors.size(), false);
    result_.recomputed.assign(block.operations.size(), false);
    producer_.assign(block.tensors.size(), -1);
    for (std::size_t i = 0; i < block.operations.size(); ++i)
      producer_[block.operations[i].output] = static_cast<int>(i);
  }

  Liveness run() {
    need(block_.input);
    for (const auto& op : block_.operations)
      for (const TensorId tensor : read_by_gradient(block_, op)) need(tensor);
    return std::move(result_);
  }

 private:
  void need(TensorId tensor) {
    if (tensor < 0 || result_.needed[tensor]) return;
    result_.needed[tensor] = true;
    if (block_.tensors[tensor].parameter) return;
    switch (place(tensor)) {
      case SavePlace::device:
        result_.saved.push_back(tensor);
        return;
      case SavePlace::host:
        result_.offloaded.push_back(tensor);
        return;
      case SavePlace::recompute:
        recompute(tensor);
        return;
    }
  }

  SavePlace place(TensorId tensor) const {
    if (block_.kind == BlockKind::layer) {
      if (tensor == block_.input) return place_of_name("decoder_layer_input", SavePlace::device);
      for (const auto& name : block_.tensors[tensor].checkpoint_names)
        if (const auto place = place_of_name(name, SavePlace::recompute); place != SavePlace::recompute) return place;
    }
    return producer_[tensor] < 0 || !block_.rematerialized ? SavePlace::device : SavePlace::recompute;
  }

  SavePlace place_of_name(const std::string& name, SavePlace otherwise) const {
    const auto found = places_.find(name);
    return found == places_.end() ? otherwise : found->second;
  }

  void recompute(TensorId tensor) {
    const int op = producer_[tensor];
    result_.recomputed[op] = true;
    for (const TensorId input : block_.operations[op].inputs) need(input);
  }

  const Block& block_;
  const std::map<std::string, SavePlace>& places_;
  Liveness result_;
  std::vector<int> producer_;
};

}  // namespace

Liveness liveness_of(const Block& block, const std::map<std::string, SavePlace>& saved) {
  return Tracing(block, saved).run();
}

}  // namespace shardplan
