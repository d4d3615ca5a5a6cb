#pragma once
// What partitioning knows of one kind of operation. A kind is a file of this folder: what its result's layout is, what it
// moves in each direction, what its gradient reads, its work, its buffers. A new kind is a new file and a line in
// operation_kinds.cpp.
#include <cost_models/partition/block_state.hpp>

namespace shardplan {

/// When each operation of a block runs, as steps of the walk (Lifetime); -1: it doesn't.
struct Schedule {
  std::vector<int> forward, recomputed;
  std::vector<int> backward_begins, backward_ends;  ///< first and last step of its gradients

  bool has_backward(OperationId op) const { return backward_begins[op] >= 0; }
  /// The first step of recomputation, or of the gradients.
  int first_backward() const {
    int first = backward_begins.back();
    for (const int step : recomputed)
      if (step >= 0) first = std::min(first, step);
    return first;
  }
  /// The step that writes an operation's result as the backward pass sees it; without one, as it is written.
  int written(const Block& block, OperationId op) const {
    return block.rematerialized && has_backward(op) ? recomputed[op] : forward[op];
  }
  int written_or(const Block& block, OperationId op, int otherwise) const {
    const int step = written(block, op);
    return step < 0 ? otherwise : step;
  }
  /// From when on there is what an operation leaves its gradient: what is saved is not written again, and its gradient
  /// makes the rest.
  int held_from(const Block& block, OperationId op) const { return written_or(block, op, backward_begins[op]); }
};

class OperationKind {
 public:
  /// The layout of a result that no rule constrains. Unless a kind says otherwise: that of its first input.
  virtual PartitionSpec result_spec(const BlockState& state, const Operation& op) const;
  /// Once all layouts are known, before anything runs.
  virtual void prepare(BlockState&, const Operation&) const {}
  /// The collectives of the first run, or of the recomputation.
  virtual void forward(BlockState& state, const Operation& op, Pass pass) const = 0;
  /// The collectives of its gradients, and what it contributes to those of its inputs.
  virtual void backward(BlockState& state, const Operation& op) const = 0;
  /// Of a product whose weight's gradient is late: that.
  virtual void late_backward(BlockState&, const Operation&) const {}
  /// Before that: what was contributed to the gradient of its result is summed.
  virtual void settle(BlockState& state, const Operation& op) const { state.gradients.settle(op.output); }
  /// Tensors whose values its gradient reads.
  virtual TensorIds read_by_gradient(const Block& block, const Operation& op) const = 0;
  /// Whether its gradient computes from its inputs what it doesn't read back: then they live until it has run.
  virtual bool gradient_recomputes() const { return false; }
  /// What one device computes. Unless a kind says otherwise it is elementwise
  /// (vector_costs.hpp).
  virtual OperationWork work(const BlockState& state, const Operation& op) const;
  /// Whether the result is written in the place of the main input, and its gradient in that of the result's.
  virtual bool works_in_place() const { return false; }
  /// Whether the result is another name for the input.
  virtual bool is_alias() const { return false; }
  /// The step at which it copies its main input, and reads the copy (one of its `buffers`) from then on; -1: it doesn't.
  virtual int copies_input(const BlockState&, const Schedule&, OperationId) const { return -1; }
  /// The step that writes the gradients of its activations.
  virtual int writes_input_gradient(const BlockState&, const Schedule& schedule, OperationId id) const {
    return schedule.backward_begins[id];
  }
  /// The last step of the gradient of its result.
  virtual int gradient_ends(const BlockState&, const Schedule& schedule, OperationId id) const {
    return works_in_place() ? schedule.backward_begins[id] - 1 : schedule.backward_ends[id];
  }
  /// Buffers beside the result and its gradient.
  virtual std::vector<Lifetime> buffers(const BlockState&, const Schedule&, OperationId) const { return {}; }

 protected:
  /// Kinds are there for good, without a guard that every use would ask: nothing is to be done when one ends.
  ~OperationKind() = default;
};

const OperationKind& operation_kind(OpKind kind);

/// Inputs read, result written.
Bytes operand_traffic(const BlockState& state, const Operation& op);

/// Elementwise gradients: each input's has the layout that the input is read in; axes that split the result but not the
/// input leave partial sums.
void contribute_elementwise(BlockState& state, const Operation& op);

/// Norm and softmax statistics: a float32 number a token, reduced over the axes that split the feature dim.
void reduce_statistics(BlockState& state, const Operation& op, Phase phase);

}  // namespace shardplan
