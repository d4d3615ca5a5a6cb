#pragma once
// In which groups of devices XLA's partitioner gathers the operands of a product (xla/service/spmd/dot_handler.cc,
// PartitionDot). It matches one kind of dim after the other and goes on inside the groups that the matched axes make:
// batch dims, then dims of one operand that the result splits alike, then contracted ones. What is gathered is kept with
// the groups that it was gathered in (CreatePerGroupPartitioningState), so two products share it if those agree.
#include <cost_models/layouts/layout.hpp>

namespace shardplan {

inline bool has(const Dims& dims, Dim dim) {
  for (const TensorDim& d : dims)
    if (d.dim == dim) return true;
  return false;
}

struct EinsumOperand {
  const Tensor* tensor;
  PartitionSpec spec;
  bool pinned = false;  ///< a constraint says where it is; else where it is follows from those that read it, too
};

/// The axes that were matched before each operand was gathered.
struct ProductGroups {
  AxisList lhs, rhs;
};

/// `result`: the spec that the product's result is wanted in.
ProductGroups product_groups(const EinsumOperand& lhs, const EinsumOperand& rhs, const Dims& result_dims,
                             const PartitionSpec& result, const Mesh& mesh);

}  // namespace shardplan
