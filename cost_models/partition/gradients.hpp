#pragma once
// The gradients of a block's tensors. Each operation contributes to the gradients of its inputs in whatever layout its
// local product has; contributions of one layout are added before they are reduced, so consumers of one tensor share a
// reduction.
#include <cost_models/partition/forms.hpp>
#include <cost_models/partition/mask_slices.hpp>
#include <map>
#include <optional>

namespace shardplan {

class Gradients {
 public:
  Gradients(const BoundProgram& program, const Block& block, const std::vector<PartitionSpec>& specs,
            const TrainConfig& config, const Compiler& compiler, const MaskSlices& masks, const Forms& forms,
            Recorder& recorder);

  /// Adds to the gradient of an activation; `apart`: only with others that are (EinsumPlan::sums_apart).
  void contribute(TensorId tensor, Layout layout, const Operation& op, bool apart = false);
  /// Whether what is contributed to a constrained tensor goes to the tensor behind the constraint as it is: where each
  /// product is laid out by itself nothing is brought to the constraint on the way (recorded on 7x: tokens of experts,
  /// inputs of key and value under ep-as-cp and cp-as-ep).
  bool pass_constraints() const { return compiler_.has(Habit::lays_out_products_by_size); }
  /// Leaves the sums that the gradient of an activation is still to be made of to whoever calls: the axes.
  AxisList take_sums(TensorId tensor);
  /// All consumers have contributed: brings the sum to the tensor's own layout.
  void settle(TensorId tensor);
  /// The layout for which the product that makes a gradient is laid out: a weight's constraint comes between it and the
  /// target.
  PartitionSpec of_product(TensorId tensor) const;
  /// The layout that the gradient of a tensor ends up in.
  PartitionSpec target(TensorId tensor) const;

  /// Weight gradients are partial sums over every axis that splits tokens: scattered where their target is sharded by
  /// the axis, then the shard is all-reduced over the rest (data). Those of several products are summed before they move,
  /// behind the last of them.
  void reduce_parameter(TensorId parameter, const Layout& gradient, const Operation& op);
  /// pipeline_fsdp_ag_once: the iterations add up whole gradients, which are summed behind the last one (recorded).
  bool adds_up_whole() const;
  void sum_parameter(TensorId parameter, const Layout& gradient, const PartitionSpec& target, const Operation& op);
  /// The gradient of a weight that a product reads under a constraint goes there first: the axes that the constraint
  /// splits it by are summed into its shards, the others on the way from there to the weight's own layout (recorded:
  /// qn80x8_v5p8_ep4fsdp2, experts split over expert there and over expert and fsdp as stored).
  void reduce_constrained(TensorId parameter, TensorId constrained, const Layout& gradient, const Operation& op);

  /// Contributions that differ from the layout of their sum: buffers of one step.
  const std::vector<Lifetime>& partial() const { return partial_; }

 private:
  struct Contribution {
    TensorId tensor;
    Layout layout;
    const Operation* op;
    bool apart;
    std::optional<std::size_t> buffer;  ///< of partial_: the sum so far
    std::optional<int> added;           ///< the step of what was last added to it
  };

  void add_to(Contribution& sum);
  void scatter_what_is_sliced(TensorId constrained, const PartitionSpec& wanted, Moves& moves) const;
  void reduce_each_repeat(TensorId parameter, const Layout& gradient, const Operation& op);
  bool is_held_whole(TensorId parameter) const;
  bool is_accumulated_first(const Operation& op) const;
  Moves moves_at_once(TensorId parameter, const Layout& gradient, const PartitionSpec& wanted) const;
  bool is_summed_at_once(TensorId parameter, const Layout& gradient) const;
  bool is_summed_whole(TensorId parameter, const Layout& gradient, const PartitionSpec& wanted, const Operation& op) const;
  bool is_read_before(TensorId parameter, const Operation& op) const;
  const Tensor& tensor(TensorId id) const { return block_.tensors[id]; }
  OperationId id_of(const Operation& op) const { return static_cast<OperationId>(&op - block_.operations.data()); }

  const BoundProgram& program_;
  const Block& block_;
  const std::vector<PartitionSpec>& specs_;
  const TrainConfig& config_;
  const Compiler& compiler_;
  const MaskSlices& masks_;
  const Mesh& mesh_;
  const Forms& forms_;
  Recorder& recorder_;
  std::vector<Contribution> contributions_;  ///< in the order of their making
  std::vector<Lifetime> partial_;
  std::map<TensorId, std::size_t> waiting_;  ///< of partial_: sums that more is added to
};

}  // namespace shardplan
