#pragma once
// Experts on the dropping path, whose rows are products with masks (Habit::runs_expert_weight_gradients_last). As those
// whose rows are exchanged (exchanged_experts.hpp) they leave to the end of a layer's backward pass what nobody waits for:
// their weight gradients (mx7_v5p8_ep8_dm, mx7_v5p8_ep8_fix, mixtral8x7bx4_7x8_fsdp4ep2_dm). In layers that are computed
// again from attention on, with several sequences on a device, what only the routing weights' gradient reads comes behind
// the rows' gradient, too: the experts' output that is computed again and the mask's gradient
// (deepseek216bx5_v5p4_fsdp4_dm_unpacked, mx7_v5p8_ep4fsdp2_fix). Not with one sequence (mx7_v5p8_ep8_dm), nor where
// attention's products are saved (qwen330ba3bx4_v5p4_fsdp4_dm_epascp_savedot) or layers share an iteration
// (qn80x8_v5p8_ep4fsdp2).
#include <cost_models/operations/operation_kind.hpp>

namespace shardplan {

class DroppedExperts {
 public:
  DroppedExperts(const BlockState& state, const Schedule& schedule);

  /// Whether an operation's weight gradient runs last.
  bool runs_gradient_last(OperationId op) const;
  /// The experts' output product, where it runs again behind the rows' gradient; -1: it doesn't.
  OperationId late_output() const { return late_ ? output_ : -1; }
  /// Whether a value is the mask that the combine multiplies a late output with: its gradient is late, and what reads it
  /// isn't.
  bool is_late_mask(TensorId value, OperationId reader) const;
  /// The dispatch, which makes the experts' rows; behind its gradient late work runs.
  OperationId dispatch() const { return dispatch_; }
  /// Weight gradients that all-reduces beside compute read, and what these write: they overlap, and all of it is there at
  /// the end (Compiler::overlap; mixtral8x7bx4_7x8_fsdp4ep2_dm). `schedule`: as its steps run.
  std::vector<Lifetime> sums_at_the_end(const Schedule& schedule, int end) const;

 private:
  bool has_several_sequences() const;
  bool projects_again(const Schedule& schedule) const;

  const BlockState& state_;
  const Block& block_;
  OperationId output_ = -1, dispatch_ = -1;  ///< -1: nothing waits
  bool late_ = false;
};

}  // namespace shardplan
