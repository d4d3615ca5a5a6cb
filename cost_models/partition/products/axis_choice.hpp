#pragma once
// Which dim of a product one mesh axis splits: the one on which both operands and the result agree best.
#include <array>
#include <cost_models/layouts/layout.hpp>
#include <cost_models/partition/products/product_groups.hpp>
#include <optional>
#include <shardplan/compiler/compiler.hpp>

namespace shardplan {

/// A tensor of a product, looked up instead of searched: its dims, and which of them each axis splits.
class ProductTensor {
 public:
  /// `spec`: null where any would do.
  ProductTensor(const Dims& dims, const PartitionSpec* spec, bool differentiable = true);
  ProductTensor(const EinsumOperand& operand)
      : ProductTensor(operand.tensor->dims, &operand.spec, operand.tensor->differentiable) {
    pinned_ = operand.pinned;
  }

  const Dims& dims() const { return dims_; }
  /// Only of one that has a spec.
  const PartitionSpec& spec() const { return *spec_; }
  bool has_spec() const { return spec_ != nullptr; }
  bool differentiable() const { return differentiable_; }
  bool pinned() const { return pinned_; }
  bool has(Dim dim) const { return (present_ >> static_cast<int>(dim) & 1) != 0; }
  /// Of what has no spec none.
  std::optional<Dim> split_by(AxisId axis) const {
    const std::int8_t place = place_of_[axis];
    return place < 0 ? std::nullopt : std::optional(dims_[static_cast<std::size_t>(place)].dim);
  }
  std::int64_t elements() const;
  /// Into which its spec splits the dim; 1 where it has none.
  std::int64_t parts(Dim dim, const Mesh& mesh) const;

 private:
  const Dims& dims_;
  const PartitionSpec* spec_;
  bool differentiable_;
  bool pinned_ = false;
  std::uint64_t present_ = 0;  ///< a bit a Dim
  std::array<std::int8_t, most_mesh_axes> place_of_;
};

struct AxisChoice {
  AxisId axis = 0;
  std::optional<Dim> dim = {};  ///< none: whoever has the axis is gathered
  bool apart = false;           ///< EinsumPlan::sums_apart
};
using AxisChoices = InlineList<AxisChoice, most_mesh_axes>;

/// What a product is planned from; the result as it is wanted.
struct ProductTensors {
  ProductTensor lhs, rhs, result;
};

/// Tokens are sliced for free where the result wants a part of them; features are not.
bool counts_tokens(Dim dim);

/// Of every axis above 1, in mesh order.
AxisChoices choose_axes(const ProductTensors& product, const Mesh& mesh, const Compiler& compiler);

}  // namespace shardplan
