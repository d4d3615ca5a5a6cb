#include <algorithm>
#include <models/programs/matrices.hpp>
#include <numeric>

namespace shardplan {
namespace {

class Walk {
 public:
  explicit Walk(const Block& block) : block_(block), root_(roots_of(block)), seen_(block.tensors.size(), false) {}

  std::vector<Matrix> run() {
    for (const auto& op : block_.operations) visit(op);
    note_idle();
    return std::move(found_);
  }

 private:
  void visit(const Operation& op) {
    if (op.kind == OpKind::lookup) note(op.inputs.front(), WeightUse::looked_up);
    if (op.kind == OpKind::elementwise && has_dim(block_.tensors[op.inputs.back()], Dim::taps))
      note(op.inputs.back(), WeightUse::multiplied);  // each channel's own kernel
    if (op.kind == OpKind::normalization && in_low_rank(op.inputs[1])) note(op.inputs[1], WeightUse::multiplied);
    if (op.kind != OpKind::einsum) return;
    note(op.inputs[0], use_of(op.inputs[0], op.inputs[1]));
    note(op.inputs[1], use_of(op.inputs[1], op.inputs[0]));
  }

  void note_idle() {
    for (std::size_t id = 0; id < block_.tensors.size(); ++id)
      if (block_.tensors[id].role == TensorRole::idle && block_.tensors[id].dims.size() > 1)
        note(static_cast<TensorId>(id), WeightUse::idle);
  }

  bool in_low_rank(TensorId scale) const {
    return has_dim(block_.tensors[scale], Dim::q_rank) || has_dim(block_.tensors[scale], Dim::kv_rank);
  }

  /// One-hot ids, which no gradient reaches, make a lookup of a product.
  WeightUse use_of(TensorId weight, TensorId other) const {
    const Tensor& factor = block_.tensors[other];
    if (!factor.differentiable && has_dim(factor, Dim::vocab)) return WeightUse::looked_up;
    const bool by_experts = has_dim(block_.tensors[weight], Dim::experts) && has_dim(factor, Dim::experts);
    return by_experts ? WeightUse::by_experts : WeightUse::multiplied;
  }

  void note(TensorId id, WeightUse use) {
    const TensorId root = root_[id];
    if (!block_.tensors[root].parameter || seen_[root]) return;
    seen_[root] = true;
    found_.push_back({&block_.tensors[root], use});
  }

  const Block& block_;
  std::vector<TensorId> root_;
  std::vector<bool> seen_;
  std::vector<Matrix> found_;
};

}  // namespace

bool has_dim(const Tensor& tensor, Dim dim) {
  return std::any_of(tensor.dims.begin(), tensor.dims.end(), [&](const TensorDim& d) { return d.dim == dim; });
}

std::vector<Matrix> matrices_of(const Block& block) { return Walk(block).run(); }

std::int64_t elements_of_a_tokens_experts(const Tensor& weight, const Block& block) {
  const auto experts = std::find_if(weight.dims.begin(), weight.dims.end(),
                                    [](const TensorDim& d) { return d.dim == Dim::experts; });
  return elements_of(weight) / experts->size * block.experts_per_token;
}

std::vector<TensorId> roots_of(const Block& block) {
  std::vector<TensorId> roots(block.tensors.size());
  std::iota(roots.begin(), roots.end(), 0);
  for (const auto& op : block.operations)
    if (op.kind == OpKind::constrain) roots[op.output] = roots[op.inputs.front()];
  return roots;
}

}  // namespace shardplan
