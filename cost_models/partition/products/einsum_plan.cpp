#include <algorithm>
#include <cost_models/partition/products/axis_choice.hpp>
#include <cost_models/partition/products/einsum_plan.hpp>
#include <shardplan/rounding.hpp>

namespace shardplan {
namespace {

using MaybeDim = std::optional<Dim>;

/// An operand's dim that several axes split, of which one is chosen to leave it.
struct LeftDim {
  const ProductTensor &operand, &other;
  Dim dim;
  const AxisList& axes;
};

/// `change` what is chosen where that is so, of dims that the result has or of those that it hasn't; which axes leave, the
/// choices say as they were before any change.
template <class Change>
void where_axes_leave(const AxisChoices& choices, const ProductTensors& product, bool result_has, Change change) {
  const AxisChoices before = choices;
  const auto& [lhs, rhs, result] = product;
  for (const auto& [operand, other] : {std::pair{&lhs, &rhs}, std::pair{&rhs, &lhs}})
    for (std::size_t i = 0; i < operand->dims().size(); ++i) {
      const LeftDim left{*operand, *other, operand->dims()[i].dim, operand->spec().dims[i]};
      if (left.axes.size() < 2 || result.has(left.dim) != result_has) continue;
      const auto leaves = [&](const AxisChoice& choice) {
        return left.axes.contains(choice.axis) && choice.dim != left.dim;
      };
      if (std::any_of(before.begin(), before.end(), leaves)) change(left);
    }
}

/// An axis that shares a contracted dim with others can't leave it alone: when one must, the dim is contracted whole,
/// and the others split what the result wants (recorded: the gradient of that wo gathers both its operands). So does
/// the one that leaves where only its own operand has that dim (recorded: a router's gradient exchanges the tokens).
void contract_whole_dims(AxisChoices& choices, const ProductTensors& product) {
  where_axes_leave(choices, product, false, [&](const LeftDim& left) {
    for (auto& [axis, chosen, apart] : choices) {
      const MaybeDim wanted = product.result.split_by(axis);
      const bool own = wanted && left.operand.has(*wanted) && !left.other.has(*wanted);
      if (chosen == left.dim || (!chosen && left.axes.contains(axis) && own)) chosen = wanted;
    }
  });
}

/// Nor can an axis leave a dim of the result alone that it shares with others: the operand is gathered whole. These others
/// split tokens of the other operand, where the result wants that (recorded: gradients of the tokens that a router reads
/// under fsdp and expert), or nothing (wo under fsdp and context, which the dispatched rows don't have).
void gather_whole_operands(AxisChoices& choices, const ProductTensors& product) {
  if (!product.result.has_spec()) return;
  where_axes_leave(choices, product, true, [&](const LeftDim& left) {
    for (auto& [axis, chosen, apart] : choices) {
      if (chosen != left.dim || !left.axes.contains(axis)) continue;
      const MaybeDim wanted = product.result.split_by(axis);
      if (!wanted || (counts_tokens(*wanted) && left.other.has(*wanted))) chosen = wanted;
    }
  });
}

/// The spec of a tensor under the choices; a dim that keeps its axes keeps their order too.
PartitionSpec spec_under(const AxisChoices& choices, const ProductTensor& tensor) {
  PartitionSpec spec;
  for (std::size_t i = 0; i < tensor.dims().size(); ++i) {
    AxisList axes;
    for (const auto& [axis, dim, apart] : choices)
      if (dim == tensor.dims()[i].dim) axes.push_back(axis);
    if (tensor.has_spec() && axes.size() > 1 && axes == in_mesh_order(tensor.spec().dims[i])) axes = tensor.spec().dims[i];
    spec.dims.push_back(axes);
  }
  return spec;
}

/// A dim's part on one device.
double local_size(const TensorDim& d, const AxisChoices& choices, const Mesh& mesh) {
  std::int64_t parts = 1;
  for (const auto& [axis, dim, apart] : choices)
    if (dim == d.dim) parts *= mesh.size(axis);
  return static_cast<double>(divided_up(d.size, parts));
}

/// Dims of both operands and of the result are batch dims: groups.
MatrixShape local_shape(const AxisChoices& choices, const ProductTensors& product, const Mesh& mesh) {
  MatrixShape shape{1, 1, 1, 1};
  for (const auto& d : product.lhs.dims()) {
    double& size = !product.rhs.has(d.dim) ? shape.m : product.result.has(d.dim) ? shape.groups : shape.k;
    size *= local_size(d, choices, mesh);
  }
  for (const auto& d : product.rhs.dims())
    if (!product.lhs.has(d.dim)) shape.n *= local_size(d, choices, mesh);
  return shape;
}

}  // namespace

EinsumPlan plan_einsum(const EinsumOperand& lhs, const EinsumOperand& rhs, const Dims& result_dims,
                       const PartitionSpec* target, const Mesh& mesh, const Compiler& compiler) {
  const ProductTensors product{lhs, rhs, {result_dims, target}};
  AxisChoices choices = choose_axes(product, mesh, compiler);
  if (compiler.has(Habit::contracts_whole_dims)) contract_whole_dims(choices, product);
  if (compiler.has(Habit::gathers_operands_whole)) gather_whole_operands(choices, product);

  EinsumPlan plan;
  plan.lhs = spec_under(choices, product.lhs);
  plan.rhs = spec_under(choices, product.rhs);
  plan.result.spec = spec_under(choices, product.result);
  for (const auto& [axis, dim, apart] : choices) {
    if (dim && !product.result.has(*dim)) plan.result.partial.push_back(axis);
    plan.sums_apart = plan.sums_apart || apart;
  }
  // A weight that is gathered alone is so first.
  const bool left = plan.lhs != lhs.spec, right = plan.rhs != rhs.spec;
  const bool alone = (left && !right && lhs.tensor->parameter) || (right && !left && rhs.tensor->parameter);
  if (compiler.has(Habit::gathers_activations_per_consumer) && (left || right) && !alone)
    plan.groups = product_groups(lhs, rhs, result_dims, target ? *target : plan.result.spec, mesh);
  plan.shape = local_shape(choices, product, mesh);
  return plan;
}

}  // namespace shardplan
