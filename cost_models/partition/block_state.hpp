#pragma once
// One block while it is walked: where its tensors are, what has been made available, which gradients are pending. What
// each kind of operation does with it: cost_models/operations.
#include <cost_models/partition/block_layout.hpp>
#include <cost_models/partition/gradients.hpp>
#include <initializer_list>
#include <memory>
#include <optional>

namespace shardplan {

class BlockState {
 public:
  /// `layout`: where another walk of the block has laid it out already; null where this one has to.
  BlockState(const BoundProgram& program, const BoundBlock& bound, const TrainConfig& config, const Compiler& compiler,
             std::shared_ptr<BlockLayout> layout);
  BlockState(const BlockState&) = delete;
  BlockState& operator=(const BlockState&) = delete;

  const Tensor& tensor(TensorId id) const { return block.tensors[id]; }
  const PartitionSpec& spec(TensorId id) const { return layout_->specs[id]; }
  const std::vector<PartitionSpec>& specs() const { return layout_->specs; }
  const DataFlow& flow() const { return layout_->flow; }
  const std::shared_ptr<BlockLayout>& layout() const { return layout_; }
  /// Whether the rules say where the tensor is; else sharding propagates.
  bool is_constrained(TensorId id) const { return constrained_[id].has_value(); }
  void lay_out(TensorId id, PartitionSpec spec) { layout_->specs[id] = std::move(spec); }

  /// A product of attention or of a dense feed-forward with a weight.
  bool is_layer_product(const Operation& op) const;

  /// Whether axes split the features of what the block reads.
  bool splits_features() const;

  /// Whether the gradient of the weight that the product reads runs later than that of its input
  /// (Habit::runs_weight_gradients_beside_collectives).
  bool is_weight_gradient_late(const Operation& product) const;
  bool hides_collectives_behind_gradients() const;

  /// How a product runs forward, once its operands have their layouts.
  const EinsumPlan& product_plan(const Operation& op) const;
  /// How the gradient of its operand `side` is computed where it is wanted as `sum`; `make` is asked once for all policies.
  template <class Make>
  const EinsumPlan& gradient_plan(const Operation& op, int side, const PartitionSpec& sum, Make make) const {
    auto& known = layout_->gradients[2 * id_of(op) + side];
    if (!known || known->sum != sum) known = std::make_unique<const GradientPlan>(sum, make());
    return known->plan;
  }

  OperationId id_of(const Operation& op) const { return static_cast<OperationId>(&op - block.operations.data()); }
  /// Bytes of one device's shard.
  Bytes local(TensorId id) const { return local_bytes(tensor(id), spec(id), mesh); }
  /// Axes that split these dims of a tensor.
  AxisList split_axes(TensorId id, std::initializer_list<Dim> dims) const;
  /// `input`'s dims laid out as the output's dims of the same name (or the other way round where the output has no
  /// layout yet); dims that the other lacks stay whole.
  PartitionSpec aligned(TensorId input, TensorId output) const;
  /// In the forward pass; or in the recomputation, which belongs to the backward one.
  static Phase phase_of(Pass pass) { return pass == Pass::forward ? Phase::forward : Phase::rematerialized_forward; }

  const BoundProgram& program;
  const Block& block;
  const TrainConfig& config;
  const Compiler& compiler;
  const Mesh& mesh;

 private:
  const std::shared_ptr<BlockLayout> layout_;
  const std::vector<std::optional<PartitionSpec>>& constrained_;  ///< the bound block's

 public:
  MaskSlices& masks;
  Recorder recorder;
  Forms forms;
  Gradients gradients;
};

/// Index of a dim, or -1.
inline int index_of(const Dims& dims, Dim dim) {
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (dims[i].dim == dim) return static_cast<int>(i);
  return -1;
}
inline bool has(const Tensor& tensor, Dim dim) { return index_of(tensor.dims, dim) >= 0; }

}  // namespace shardplan
