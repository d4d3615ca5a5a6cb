#pragma once
// What of a partitioned block doesn't depend on what its backward pass keeps: where its tensors are, how its products run
// and what one run of it computes. Made once for all remat policies.
#include <cost_models/partition/data_flow.hpp>
#include <cost_models/partition/products/einsum_plan.hpp>
#include <cost_models/partition/mask_slices.hpp>
#include <cost_models/partition/operation_work.hpp>
#include <memory>
#include <shardplan/bound_program.hpp>
#include <vector>

namespace shardplan {

/// How the gradient of a product's operand is computed where it is wanted as `sum`.
struct GradientPlan {
  PartitionSpec sum;
  EinsumPlan plan;
};

struct BlockLayout {
  /// Of the tensors that rules lay out, and of no other yet.
  explicit BlockLayout(const BoundBlock& bound);

  DataFlow flow;
  std::vector<PartitionSpec> specs;  ///< one a tensor; sharding propagates to those without a constraint
  MaskSlices masks;
  std::vector<std::int64_t> stored;  ///< elements that a device stores of each tensor, tiles filled up
  std::vector<OperationWork> work;   ///< one an operation, of one run forward and, where it trains, one backward
  std::vector<std::unique_ptr<const EinsumPlan>> products;     ///< one an operation, null until it is asked for
  std::vector<std::unique_ptr<const GradientPlan>> gradients;  ///< likewise two, of both operands
};

}  // namespace shardplan
