#pragma once
// Walks a block three times: forward (propagating shardings and recording collectives), recomputation of what the remat
// policy dropped, and backward in reverse. One method an operation kind and direction.
#include <cost_models/partition/einsum_plan.hpp>
#include <cost_models/partition/forms.hpp>
#include <optional>

namespace shardplan {

class BlockPartitioner {
 public:
  BlockPartitioner(const BoundProgram& program, const BoundBlock& bound, const TrainConfig& config,
                   const Compiler& compiler);
  PartitionedBlock run();

 private:
  struct Contribution {
    Layout layout;
    const Operation* op;
  };

  // forward.cpp
  void propagate(const Operation& op);
  bool is_mask(TensorId id) const;
  bool is_expert_rows(TensorId id) const;
  void slice_masks(const Operation& op);
  AxisList mask_axes() const;
  void gather_mask(const Operation& op, Pass pass);
  void forward(const Operation& op, Pass pass);
  void forward_einsum(const Operation& op, Pass pass);
  void forward_elementwise(const Operation& op, Pass pass);
  void forward_attention(const Operation& op, Pass pass);
  EinsumPlan forward_plan(const Operation& op) const;
  PartitionSpec attention_form(TensorId input) const;
  PartitionSpec aligned(TensorId input, TensorId output) const;
  void statistics(const Operation& op, Phase phase);

  // backward.cpp
  void backward(const Operation& op);
  void backward_einsum(const Operation& op);
  void backward_operand(const Operation& op, int side);
  AxisList projection_axes(const Operation& op) const;
  void exchange_projection(const Operation& op, const AxisList& axes);
  void backward_elementwise(const Operation& op);
  void backward_attention(const Operation& op);
  void contribute(TensorId tensor, Layout layout, const Operation& op);
  void settle(TensorId tensor);
  PartitionSpec gradient_target(TensorId tensor) const;
  void reduce_each_repeat(TensorId parameter, const Layout& gradient, const Operation& op);
  void sum_parameter(TensorId parameter, const Layout& gradient, const PartitionSpec& target, const Operation& op);
  void reduce_parameter(TensorId parameter, const Layout& gradient, const Operation& op);

  // exchange.cpp: token lookup and expert dispatch
  Layout lookup_layout(const Operation& op) const;
  bool gathers_table(const Operation& op) const;
  bool gathers_rows(const Operation& op) const;
  void forward_lookup(const Operation& op);
  void backward_lookup(const Operation& op);
  void routing_traffic(const Operation& op, Phase phase);
  void backward_routing(const Operation& op);
  PartitionSpec rows_spec(const Operation& op) const;
  void exchange_rows(const Operation& op, Phase phase);
  void gather_tokens(const Operation& op, Phase phase);
  void scatter_tokens(const Operation& op, Phase phase, TensorId tokens);

  // lifetimes.cpp
  std::vector<Lifetime> lifetimes() const;
  Bytes buffer_bytes(TensorId id) const;
  int last_read(TensorId id) const;
  int gradient_begins(TensorId id) const;
  int gradient_ends(std::size_t op) const;
  bool has_no_buffer(const Operation& op) const;
  std::vector<Lifetime> attention_scores(std::size_t op) const;
  std::vector<Lifetime> unsorted_rows(std::size_t op) const;

  // work.cpp
  OperationWork work_of(const Operation& op) const;
  OperationWork einsum_work(const Operation& op) const;
  OperationWork attention_work(const Operation& op) const;
  OperationWork elementwise_work(const Operation& op) const;
  OperationWork unfused_work(const Operation& op) const;
  double attention_flops(const Operation& op) const;
  double computed_share(const Operation& op) const;

  const Tensor& tensor(TensorId id) const { return block_.tensors[id]; }
  Phase phase_of(Pass pass) const { return pass == Pass::forward ? Phase::forward : Phase::rematerialized_forward; }
  Bytes local(TensorId id) const { return local_bytes(tensor(id), specs_[id], mesh_); }
  AxisList split_axes(TensorId id, std::initializer_list<Dim> dims) const;

  const BoundProgram& program_;
  const Block& block_;
  const TrainConfig& config_;
  const Compiler& compiler_;
  const Mesh& mesh_;
  std::vector<std::optional<PartitionSpec>> bound_specs_;
  std::vector<PartitionSpec> specs_;
  Liveness liveness_;
  Recorder recorder_;
  Forms forms_;
  std::vector<std::vector<Contribution>> contributions_;
  std::vector<int> forward_step_, recompute_step_;   ///< of each operation; -1: not run
  std::vector<int> backward_begin_, backward_step_;  ///< first and last step of its gradients
  std::pair<TensorId, PartitionSpec> mask_slices_ = {-1, {}};  ///< the combine's, and its gradient's layout
  std::vector<Lifetime> partial_gradients_;  ///< contributions that differ from the layout of their sum
};

}  // namespace shardplan
