#pragma once
// Operands of a product that multiplies in fewer bits: in which numbers each is read, and the scales that are looked for
// over the devices that share a channel.
#include <cost_models/partition/block_state.hpp>

namespace shardplan {

/// An operand of the forward product, made available as `plan` has it.
void use_operand(BlockState& state, const Operation& op, int side, const EinsumPlan& plan, Pass pass);

/// What the gradient of operand `wanted` reads: the other operand, and the gradient of the result;
/// in which groups of devices (ProductGroups).
void use_factor(BlockState& state, const Operation& op, int wanted, const PartitionSpec& spec, const AxisList& groups);
void use_result_gradient(BlockState& state, const Operation& op, int wanted, const PartitionSpec& spec,
                         const AxisList& groups);

/// Of the products of an operation: which are narrow, and what narrowing reads and writes beside them.
struct NarrowWork {
  bool forward = false;
  int gradients = 0;  ///< of the two
  VectorWork narrowing_forward, narrowing_backward;
};
NarrowWork narrow_work(const BlockState& state, const Operation& op);

}  // namespace shardplan
