#pragma once
// A block's two loop bodies as steps and collectives (body_schedule.hpp): forward; and backward, the recomputation in
// front. A step is one operation; of a product's backward pass the gradient of its left operand, then of its right one,
// behind which what is made of the first can travel.
#include <cost_models/partition/partitioned_block.hpp>
#include <cost_models/time/compute_time.hpp>
#include <cost_models/time/schedule/body_schedule.hpp>
#include <shardplan/compiler/compiler.hpp>

namespace shardplan {

/// Where in a block's bodies a collective is.
struct Slot {
  bool backward = false;
  int made_by = -1, needed_by = 0;  ///< steps, as ScheduledCollective has them
  bool of_leaf = false;             ///< likewise
};

/// What a step of a body computes; the operation is the block's, -1: none.
struct BodyStep {
  OperationId operation = -1;
  KernelPart part = KernelPart::stacks;
};

class BlockBodies {
 public:
  /// `times`: of the block's operations; `stacks`: of what it does with its layers' stacks.
  BlockBodies(const PartitionedBlock& block, const std::vector<OperationTime>& times, const OperationTime& stacks);

  const ComputeSeconds& compute() const { return compute_; }  ///< of both bodies, one run
  const std::vector<Seconds>& forward() const { return forward_; }
  const std::vector<Seconds>& backward() const { return backward_; }
  Seconds forward_compute() const;
  Seconds backward_compute() const;

  /// What the steps of forward() or backward() are.
  std::vector<BodyStep> steps(bool backward) const;

  /// Of a collective of the block that runs inside its loop.
  Slot slot_of(const Collective& collective) const;

 private:
  Slot weight_slot(const Collective& collective) const;
  Slot forward_slot(const Collective& collective, const std::vector<int>& steps) const;
  Slot gradient_slot(const Collective& collective) const;
  Slot ring_slot(const Collective& collective) const;
  /// The step of the operation that makes a tensor, -1: it is there before.
  int made(TensorId tensor, const std::vector<int>& steps) const;
  /// The first step behind `step` whose operation reads `tensor`; the end of the body where none does.
  int first_reader(TensorId tensor, int step, const std::vector<int>& steps, int end) const;

  const Block* block_;
  const DataFlow& flow_;  ///< of the block
  std::vector<Seconds> forward_, backward_;
  std::vector<int> forward_steps_, recomputed_steps_, left_steps_, right_steps_;  ///< by operation, -1: it doesn't run
  ComputeSeconds compute_;
};

}  // namespace shardplan
