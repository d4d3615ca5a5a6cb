#pragma once
// Experts on the dropping path, whose rows are products with masks (Habit::runs_expert_weight_gradients_last). As those
// whose rows are exchanged (exchanged_experts.hpp) they leave to the end of a layer's backward pass what nobody waits for:
// their weight gradients (mx7_v5p8_ep8_dm, mx7_v5p8_ep8_fix, mixtral8x7bx4_7x8_fsdp4ep2_dm). In layers that are computed
// again from attention on, with several sequences on a device, what only the routing weights' gradient reads comes behind
// the rows' gradient, too: the experts' output that is computed again and the mask's gradient
// (deepseek216bx5_v5p4_fsdp4_dm_unpacked, mx7_v5p8_ep4fsdp2_fix). Not of 2 GiB of hidden rows and more (fit_one_kernel;
// plan_mixtral8x22b_tpu7x_256), nor with one sequence (mx7_v5p8_ep8_dm), nor where
// attention's output is saved (qwen330ba3bx4_v5p4_fsdp4_dm_epascp_savedot) or layers share an iteration
// (qn80x8_v5p8_ep4fsdp2).
#include <cost_models/operations/operation_kind.hpp>

namespace shardplan {

/// Where memory is short a scheduler runs first what frees most of it: weight gradients that read experts' rows, and the
/// reduction of softmax statistics. XLA:GPU's rematerialization takes kernels with several results apart.
enum class Pressure : std::uint8_t { none, high };

class DroppedExperts {
 public:
  DroppedExperts(const BlockState& state, const Schedule& schedule, Pressure pressure = Pressure::none);

  /// Whether an operation's weight gradient runs last.
  bool runs_gradient_last(OperationId op) const;
  /// The experts' output product, where it runs again behind the rows' gradient; -1: it doesn't.
  OperationId late_output() const { return late_ ? output_ : -1; }
  /// Whether a value is the mask that the combine multiplies a late output with: its gradient is late, and what reads it
  /// isn't.
  bool is_late_mask(TensorId value, OperationId reader) const;
  /// One-hot places, of which both masks are made, are one buffer, till the gradient of the dispatch has read them
  /// (deepseek216bx5_7x8_fsdp8_dm, plan_deepseek216b_tpuv6e_16). -1: not late, the masks are in slices, or experts fill
  /// lanes.
  int masks_read_until(TensorId mask, const Schedule& schedule) const;
  /// Whether a kernel writes hidden rows for both products that read them.
  bool writes_hidden_rows_twice() const { return late_ && by_library_; }
  /// In front of which step late work runs.
  int late_work(const Schedule& schedule) const;
  /// XLA:TPU makes the hidden rows in the kernel of the projection that is computed again last, beside both projections'
  /// gradients, which lie over that of the hidden rows and over the other projection (fusion of three results, two of them
  /// in aliasing_operands). With several sequences on a device and experts that don't fill lanes: 8 (mixtral-8x7b), 64
  /// (deepseek2-16b) and 160 (qwen3-480b) on v5p, v6e and 7x; not of 128 and 256 (qwen3-30b, deepseek3), whose rows lie
  /// experts first. `schedule`: as its steps run.
  bool makes_hidden_rows_with_gradients(const Schedule& schedule) const;
  /// Of that kernel: -1, none.
  OperationId activation() const { return activation_; }
  bool is_last_projection(OperationId op) const;
  /// XLA:GPU's kernels of the activation's gradient, one for each projection that was computed again: the first writes over
  /// the last projection (Habit::overwrites_last_projection).
  bool writes_over(TensorId projection, OperationId reader, const Schedule& schedule) const;
  /// What the kernel of the hidden rows' gradient reads and can't write over. `schedule`: as its steps run.
  std::vector<Lifetime> read_by_activation(const Schedule& schedule) const;
  /// Weight gradients that all-reduces beside compute read, and what these write: they overlap, and all of it is there at
  /// the end (Compiler::overlap; mixtral8x7bx4_7x8_fsdp4ep2_dm). `schedule`: as its steps run.
  std::vector<Lifetime> sums_at_the_end(const Schedule& schedule, int end) const;

 private:
  bool has_several_sequences() const;
  /// Of whose number rows lie experts first.
  bool fills_lanes() const;
  bool splits_experts() const;
  /// Of 2 GiB and more, which 32 bits don't address, hidden rows are made apart from their gradients: 1.91 GiB aren't, 2.05
  /// are (mixtral-8x7b, 14 and 15 sequences of 2,048 on a device of 7x).
  bool fit_one_kernel() const;
  bool is_summed(OperationId op) const;
  bool projects_again(const Schedule& schedule) const;

  const BlockState& state_;
  const Block& block_;
  const bool by_library_;                    ///< products are calls, which fuse nothing
  OperationId output_ = -1, dispatch_ = -1, activation_ = -1;  ///< -1: nothing waits
  bool late_ = false;
};

}  // namespace shardplan
