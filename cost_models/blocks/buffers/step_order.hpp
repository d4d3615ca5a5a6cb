#pragma once
// In which order a layer's steps run. They are walked in the order of the program: forward, recomputation, backward pass in
// reverse. Where features are split a scheduler that minds memory runs some of them later
// (Habit::runs_split_layers_as_read):
//   what nothing else of the recomputation reads, in front of the gradient that reads it first: under save_out_proj
//   attention runs again behind the feed-forward's backward pass;
//   weight gradients of products with one input, where no axis splits tokens, behind the last one's gradient of that input:
//   then it is gathered for them, and what was summed is no longer whole.
// Of sorted rows a projection that a policy lets run again, where it keeps the other and the experts' output (minimal:
// wi_1), runs behind the gradient of the hidden rows, which doesn't read it: wo, gathered, is gone when wi_1 comes; then
// come the rows' gradients, wi_1's behind wi_0's, so that both are there, and what wo's weight gradient reads waits for
// them (plan_mixtral8x22b_tpuv6e_256, plan_qwen3235ba22b_tpuv6e_256, plan_deepseek2236b_tpuv6e_256; not told of cycles).
// Of layers that share the scan's iteration, where the policy keeps the experts' output, the next layer's recomputation
// reads none of what their kernels compute again: each runs in front of its own layer's gradients, shared experts with
// them (Habit::lists_kept_experts_apart).
// Experts on the dropping path leave work to the end everywhere (dropped_experts.hpp); wo's weight gradient comes last of
// all where its gradient is gathered over more than is kept (Forms::gathers_gradient_last).
#include <cost_models/blocks/buffers/dropped_experts.hpp>

namespace shardplan {

/// Whether a layer's features are split, and the compiler has the habit.
bool runs_split_layer(const BlockState& state);

class StepOrder {
 public:
  StepOrder(const BlockState& state, const Schedule& schedule, const Liveness& liveness, Pressure pressure = Pressure::none);

  /// How many steps of the recomputation run in the backward pass.
  int postponed() const { return postponed_; }
  Schedule ordered(const Schedule& schedule) const;
  void order(std::vector<Lifetime>& lifetimes) const;
  int last() const { return static_cast<int>(rank_.size()) - 1; }  ///< step
  const DroppedExperts& dropped_experts() const { return dropped_; }

 private:
  /// In front of which step each runs.
  using Places = std::vector<int>;

  void leave_experts(Places& places, const BlockState& state, const Schedule& schedule);
  void postpone_projection(Places& places, const BlockState& state, const Schedule& schedule);
  void postpone_experts(Places& places, const BlockState& state, const Schedule& schedule, const Liveness& liveness);
  void postpone_recomputation(Places& places, const BlockState& state, const Schedule& schedule);
  void postpone_weight_gradients(Places& places, const BlockState& state, const Schedule& schedule) const;
  void rank(const Places& places);

  const DroppedExperts dropped_;
  std::vector<int> rank_;  ///< of each step
  int postponed_ = 0;
};

}  // namespace shardplan
