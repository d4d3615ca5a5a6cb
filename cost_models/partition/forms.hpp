#pragma once
// The shardings ("forms") in which a block's tensors have been made available so far. A form that exists costs nothing:
// three projections that read the same gathered activation share one all-gather, the backward pass shares one weight
// gather between recomputation and input gradient.
#include <cost_models/partition/partitioned_block.hpp>
#include <cost_models/partition/recorder.hpp>
#include <shardplan/compiler/compiler.hpp>

namespace shardplan {

enum class Pass : std::uint8_t { forward, backward };

/// Of each operation, whether its weight's gradient gathers the input, and the gradient of the result, again.
struct FarOperands {
  std::vector<bool> inputs, gradients;
};

/// Which layers of a block gather an activation for a weight's gradient alone, beside what its other readers share: all, or
/// those that aren't the first of the scan's iteration.
enum class Apart : std::uint8_t { none, behind_first, all };

/// Of each operation what its weight's gradient gathers apart, the input and the gradient of the result; empty: nothing.
struct ApartOperands {
  std::vector<Apart> inputs, gradients;
};

/// In which numbers a product reads an operand. Narrowed on other scales it is another array.
enum class Numbers : std::uint8_t { wide, narrow, narrow_again };

class Forms {
 public:
  Forms(const BoundProgram& program, const Block& block, const DataFlow& flow, const std::vector<PartitionSpec>& specs,
        const TrainConfig& config, const Compiler& compiler, Recorder& recorder);

  /// Makes `tensor` available to `op` as `spec`, for a product that is partitioned in `groups` of devices by then. In the
  /// backward pass of a rematerialized block forward values are fetched again, which the compiler counts as rematerialized
  /// forward. Narrow numbers are made of the tensor's own shard and move as such (recorded: int8 and float8 weights).
  /// Whether the form is new.
  bool use(TensorId tensor, const PartitionSpec& spec, Pass pass, const Operation& op, const AxisList& groups = {},
           Numbers numbers = Numbers::wide);
  /// Likewise for the gradient of `tensor`.
  bool use_gradient(TensorId tensor, const PartitionSpec& spec, const Operation& op, const AxisList& groups = {},
                    Numbers numbers = Numbers::wide);

  /// `constrain` and its kin give a tensor another name: what it really is.
  TensorId root(TensorId tensor) const { return flow_.origin(tensor); }
  Bytes gathered_weights() const { return gathered_weights_; }

  /// From here on operations run backward, no longer (re)computing values. What those of `released` recomputed with
  /// is gone: their gradients gather it again.
  void turn_backward(std::vector<bool> released) {
    backward_ = true;
    released_ = std::move(released);
  }
  void gather_apart(ApartOperands operands) { apart_ = std::move(operands); }
  /// What is used from here on is for a weight's gradient, or no longer.
  void make_weight_gradient(bool now) { makes_weight_gradient_ = now; }
  /// Weight gradients that had to wait run from here on.
  void turn_to_late_gradients(FarOperands far) {
    late_since_ = step_ + 1;
    far_ = std::move(far);
  }
  /// The next operation runs: forms used from here on are alive at least until its step.
  void advance() { ++step_; }
  int step() const { return step_; }
  /// The gradient of `tensor` is read until `step` in each form that it was made available in.
  void keep_gradient(TensorId tensor, int step);
  /// Buffers of the forms that differ from the tensors' own layout.
  std::vector<Lifetime> lifetimes() const;
  /// Whether a gradient is gathered over more than is kept, beside all that its product reads.
  bool gathers_gradient_last() const;

 private:
  /// Who reads a form: the first of the operations that read one constrained tensor, and in which groups of devices.
  struct Consumer {
    OperationId operation = -1;
    AxisList groups;
    bool operator==(const Consumer&) const = default;
  };

  /// What a form is made for: a product, or the form that a product reads. What is released is the last one: a weight
  /// that moves in two steps (to its constraint, then to the product) only makes the second again (recorded:
  /// qn80x8_v5p8_ep4fsdp2).
  enum class Step : std::uint8_t { last, before };

  struct Entry {
    TensorId tensor;
    Pass pass;
    bool gradient;
    PartitionSpec spec;
    Numbers numbers;
    DType dtype;
    OperationId history;  ///< whose history of largest values the scale is from; -1: none
    Consumer consumer;  ///< who made it; see shared
    bool backward;      ///< made by a gradient, not by (re)computation
    Step step;          ///< what it was made for first
    bool apart;         ///< for weights' gradients alone
    bool several = false;  ///< constrained tensors are read in it
    int first, last;    ///< steps
  };

  /// How the slice [1, rows, columns] of a stack lies when it has been gathered. Along a dim whose shard is no whole tile
  /// of 8 that dim comes first, and the layer's takes a tile of two in its place: twice the room. A product that reads rows
  /// wants gathered columns turned (recorded: plan_gemma327b_tpuv6e_64, 84 rows of wi and 84 columns of wo a device; in
  /// whole tiles with 168, plan_gemma327b_tpuv6e_32). Experts [1, experts, rows, columns] that were gathered along such rows
  /// are copied into the order that grouped kernels read (plan_deepseek2236b_tpuv6e_256, 20 rows of 5,120 a device).
  enum class Gathering : std::uint8_t { whole_tiles, row_by_row, column_by_column, copied };

  Gathering gathering(const Entry& entry) const;
  bool lies_in_stack(const Entry& entry) const;
  bool is_held(TensorId tensor) const;
  Bytes bytes_of(const Entry& entry) const;
  struct WholeGradient {
    TensorId tensor;
    Bytes bytes;
    int step;
  };
  /// Whether an entry, not a slice of it, is made in its step.
  bool is_made_beside(const Entry& entry, const WholeGradient& whole) const;
  /// Whether such a gradient is made when the product's other operand has been gathered: what takes less comes first (XLA's
  /// list; recorded: mixtral8x7b_v5p32_fsdp8ep4_fix, hidden rows of 2.3 GB beside 2.7 GB of gradient;
  /// mixtral8x22bx2_v5p32_fsdp8_expert2_fix_save_qkv_proj, whose hidden rows are larger, and gathered when it is a slice).
  bool is_gathered_beside(const WholeGradient& whole) const;
  /// What else is gathered when it is made. XLA:GPU has collectives one at a time: when those are done the gradient is a
  /// slice (deepseek216bx8_h100x16_expert8_dcnfsdp2_fix_full).
  Bytes gathered_with(const WholeGradient& whole) const;
  /// What is gathered again for a gradient, and turned, is so as soon as it was gathered first (plan_gemma327b_tpuv6e_64:
  /// five layers of an iteration wait with it); in XLA's list what is gathered row by row, too (in_list).
  int again_since(const Entry& entry) const;
  PartitionSpec on_the_way(TensorId tensor, const PartitionSpec& spec) const;
  bool gathers_at_once(TensorId tensor, const PartitionSpec& spec, Pass pass, Numbers numbers) const;
  bool make(TensorId tensor, const PartitionSpec& spec, Pass pass, const Operation& op, const AxisList& groups,
            Numbers numbers, Step step);
  bool found(TensorId tensor, const PartitionSpec& spec, Pass pass, bool gradient, const Operation& op,
             const AxisList& groups, Numbers numbers, Step step = Step::last);
  OperationId history_of(const Operation& op, Numbers numbers) const;
  DType dtype_of(TensorId tensor, const Operation& op, Numbers numbers) const;
  bool shared(const Entry& entry, const Consumer& consumer) const;
  bool gathered_again(TensorId tensor) const;
  bool is_boolean(TensorId tensor, const Move& move) const;
  OperationId first_reader(const Operation& op) const;
  /// The tensor that a constraint makes it of; -1: none does.
  TensorId constrained(TensorId tensor) const;
  bool released(const Entry& entry, const Operation& op) const;
  bool is_far(const Entry& entry, const Operation& op) const;
  Apart apart(TensorId tensor, bool gradient, const Operation& op) const;
  /// How often the form that was made last is gathered.
  RunCount runs(TensorId tensor, Pass pass, Apart apart) const;
  OperationId id_of(const Operation& op) const { return static_cast<OperationId>(&op - block_.operations.data()); }

  const Mesh& mesh_;
  const Block& block_;
  const DataFlow& flow_;
  const std::vector<PartitionSpec>& specs_;
  const Compiler& compiler_;
  Recorder& recorder_;
  std::vector<Entry> entries_;
  /// Gradients of which more was gathered than is kept: they exist beside the slice.
  std::vector<WholeGradient> wholes_;
  Bytes gathered_weights_;
  int step_ = 0;
  int late_since_ = -1;  ///< step; -1: no late gradients have run yet
  FarOperands far_;
  ApartOperands apart_;
  bool makes_weight_gradient_ = false;
  bool backward_ = false;
  std::vector<bool> released_;  ///< one an operation
  // pipeline_fsdp_ag_once: gathered weights stay for the whole step; a compiler that casts late gathers them as they
  // are stored, one that moves the layer stack gathers them on that way (layer_stack.hpp).
  bool resident_ = false, gathered_with_stack_ = false, reads_stack_ = false;
  std::vector<bool> held_;  ///< one a tensor: held_experts.hpp; empty: none is
  bool gathers_held_again_ = false;
  bool is_slice_ = false;  ///< layers' weights are slices of stacks, in whole tiles
  bool reads_experts_by_kernel_ = false;  ///< of such stacks, on the sparse paths
  std::optional<DType> resident_dtype_;  ///< none: what the block computes with
};

}  // namespace shardplan
