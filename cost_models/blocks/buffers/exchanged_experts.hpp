#pragma once
// Experts whose rows come from other devices, by an exchange or round the ring (Habit::runs_expert_weight_gradients_last).
// Their backward pass goes to the rows' gradient first, so that it can be sent back; the weight gradients, which nobody
// waits for, run last:
//   until then   the dispatched rows, the gradient of the experts' output, the hidden rows and the gradients of both
//                projections, which one fusion writes over the projections and the hidden rows' gradient
//   meanwhile    the rows' gradient in both orders, and the experts' output, which only the routing weights' gradient
//                reads, computed again, on 7x while its weight is there (plan_kimik21t_tpu7x_512), and sent back beside
//                the rows' gradient, so that both are there in both orders (ds16_7x8_ep4fsdp2); and splash attention's
//                softmax statistics (softmax_statistics.hpp)
// A layer that leads to another of the same scan iteration computes its experts again for that one: hidden rows and output
// wait from there (plan_qwen3535ba3b_tpu7x_8, plan_gptoss120b_tpu7x_32).
#include <cost_models/operations/operation_kind.hpp>
#include <optional>

namespace shardplan {

/// A product with an expert's weights.
bool multiplies_experts(const Operation& operation);

class ExchangedExperts {
 public:
  /// `leaves_weights`: their gradients, to the end.
  ExchangedExperts(const BlockState& state, const Schedule& schedule, bool leaves_weights = true);

  /// Whether there are any, and the compiler has the habit.
  bool any() const { return dispatch_ >= 0; }
  /// Whether an operation's weight gradient runs last.
  bool waits(OperationId op) const;
  /// The last step at which the gradient of an operation's weight, its second operand, reads.
  int gradients_end(OperationId op) const;
  /// The step that writes an operation's result as the backward pass sees it; -1: none does.
  int written(OperationId op) const;
  /// The last step of a tensor that does not simply live to its last reader: projections are written over, the output
  /// that is computed again stays while the rows' gradient is sent.
  std::optional<int> last_step(TensorId tensor) const;
  /// The experts' output in order of arrival, where exchanges run beside compute: while the rows' gradient is sent, too.
  /// Under tensor parallelism it is summed first (recorded: mixtral8x7bx3_7x16_fsdp2tp2ep4); not in cycles of layers
  /// (qn80x8_7x8_ep4fsdp2_fp8full).
  std::vector<Lifetime> output_sent_back() const;
  /// The experts' output, a tile of each token's rows.
  std::vector<Lifetime> rows_of_tokens() const;

 private:
  bool sums_beside_compute() const;

  const BlockState& state_;
  const Block& block_;
  const Schedule& schedule_;
  const bool leads_on_;  ///< the next layer of the same scan iteration reads the recomputed output
  OperationId dispatch_ = -1, activation_ = -1;  ///< -1: nothing waits
};

}  // namespace shardplan
