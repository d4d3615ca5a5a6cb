#pragma once
// How one einsum is partitioned: each mesh axis may split one dim of the product, so each axis is given the dim on
// which both operands and the result agree best; operands that have it elsewhere are resharded first.
#include <cost_models/layouts/layout.hpp>
#include <cost_models/partition/operation_work.hpp>
#include <cost_models/partition/products/product_groups.hpp>
#include <shardplan/compiler/compiler.hpp>

namespace shardplan {

struct EinsumPlan {
  PartitionSpec lhs, rhs;  ///< the forms in which the operands are used
  Layout result;           ///< what the local product yields, before it is brought to the target
  MatrixShape shape;       ///< local: m of the left operand alone, n of the right, k of both but the result
  /// The result is a partial sum although it has the axis on a dim of its own, larger than its operands: it is summed with
  /// those alone that are so, too (Habit::lays_out_products_by_size).
  bool sums_apart = false;
  /// Where the compiler keeps gathers by groups of devices (Habit::gathers_activations_per_consumer).
  ProductGroups groups = {};
};

/// `target` is the spec that the result is wanted in; null: whatever is cheapest (propagation).
EinsumPlan plan_einsum(const EinsumOperand& lhs, const EinsumOperand& rhs, const Dims& result_dims,
                       const PartitionSpec* target, const Mesh& mesh, const Compiler& compiler);

}  // namespace shardplan
