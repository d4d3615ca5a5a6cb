#include <algorithm>
#include <cost_models/partition/einsum_plan.hpp>
#include <optional>

namespace shardplan {
namespace {

using MaybeDim = std::optional<Dim>;

bool has(const std::vector<TensorDim>& dims, Dim dim) {
  return std::any_of(dims.begin(), dims.end(), [&](const TensorDim& d) { return d.dim == dim; });
}

MaybeDim dim_at(AxisId axis, const std::vector<TensorDim>& dims, const PartitionSpec& spec) {
  const int place = place_of(axis, spec);
  return place < 0 ? std::nullopt : MaybeDim(dims[place].dim);
}

/// Which dim of the product one mesh axis splits; nothing: the axis splits none, whoever has it is gathered.
class AxisChoice {
 public:
  AxisChoice(const EinsumOperand& lhs, const EinsumOperand& rhs, const std::vector<TensorDim>& result,
             const PartitionSpec* target, const Mesh& mesh)
      : lhs_(lhs), rhs_(rhs), result_(result), target_(target), mesh_(mesh) {}

  MaybeDim of(AxisId axis) const {
    const MaybeDim left = dim_at(axis, lhs_.tensor->dims, lhs_.spec);
    const MaybeDim right = dim_at(axis, rhs_.tensor->dims, rhs_.spec);
    const MaybeDim wanted = target_ ? dim_at(axis, result_, *target_) : std::nullopt;
    if (left && right) return left == right ? left : clash(*left, *right, wanted);
    if (left) return one_sided(*left, rhs_, wanted);
    if (right) return one_sided(*right, lhs_, wanted);
    return wanted && (has(lhs_.tensor->dims, *wanted) || has(rhs_.tensor->dims, *wanted)) ? wanted : std::nullopt;
  }

 private:
  /// The axis splits different dims of the two operands: one must give way. The result's constraint decides (SHARDING.md
  /// 1.6: this is how a batch dim that holds the expert axis forces the expert weights to be gathered); without one a
  /// contracted dim gives way (no partial sums), else the smaller operand moves.
  MaybeDim clash(Dim left, Dim right, MaybeDim wanted) const {
    if (wanted == left || wanted == right) return wanted;
    if (has(result_, left) != has(result_, right)) return has(result_, left) ? left : right;
    return local_bytes(*lhs_.tensor, lhs_.spec, mesh_) >= local_bytes(*rhs_.tensor, rhs_.spec, mesh_) ? left : right;
  }

  /// Only one operand has the axis. On a contracted dim that operand is gathered rather than the other sliced (recorded:
  /// attention inputs whose sequence a rule set leaves unsharded); elsewhere the result simply inherits it.
  MaybeDim one_sided(Dim dim, const EinsumOperand& other, MaybeDim wanted) const {
    if (has(result_, dim)) return dim;
    if (wanted && has(other.tensor->dims, *wanted)) return wanted;
    return std::nullopt;
  }

  const EinsumOperand& lhs_;
  const EinsumOperand& rhs_;
  const std::vector<TensorDim>& result_;
  const PartitionSpec* target_;
  const Mesh& mesh_;
};

using Choices = std::vector<std::pair<AxisId, MaybeDim>>;

/// The spec of `dims` under the choices; a dim that keeps its axes keeps their order too.
PartitionSpec spec_under(const Choices& choices, const std::vector<TensorDim>& dims, const PartitionSpec* before) {
  PartitionSpec spec;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    AxisList axes;
    for (const auto& [axis, dim] : choices)
      if (dim == dims[i].dim) axes.push_back(axis);
    if (before && std::is_permutation(axes.begin(), axes.end(), before->dims[i].begin(), before->dims[i].end()))
      axes = before->dims[i];
    spec.dims.push_back(std::move(axes));
  }
  return spec;
}

double flops(const Choices& choices, const std::vector<TensorDim>& lhs, const std::vector<TensorDim>& rhs,
             const Mesh& mesh) {
  double product = 2;
  const auto multiply = [&](const TensorDim& d) {
    std::int64_t parts = 1;
    for (const auto& [axis, dim] : choices)
      if (dim == d.dim) parts *= mesh.size(axis);
    product *= static_cast<double>((d.size + parts - 1) / parts);
  };
  for (const auto& d : lhs) multiply(d);
  for (const auto& d : rhs)
    if (!has(lhs, d.dim)) multiply(d);
  return product;
}

}  // namespace

EinsumPlan plan_einsum(const EinsumOperand& lhs, const EinsumOperand& rhs, const std::vector<TensorDim>& result_dims,
                       const PartitionSpec* target, const Mesh& mesh) {
  const AxisChoice choice(lhs, rhs, result_dims, target, mesh);
  Choices choices;
  for (std::size_t axis = 0; axis < mesh.axes.size(); ++axis)
    if (mesh.axes[axis].size() > 1) choices.emplace_back(static_cast<AxisId>(axis), choice.of(static_cast<AxisId>(axis)));

  EinsumPlan plan;
  plan.lhs = spec_under(choices, lhs.tensor->dims, &lhs.spec);
  plan.rhs = spec_under(choices, rhs.tensor->dims, &rhs.spec);
  plan.result.spec = spec_under(choices, result_dims, target);
  for (const auto& [axis, dim] : choices)
    if (dim && !has(result_dims, *dim)) plan.result.partial.push_back(axis);
  plan.local_flops = flops(choices, lhs.tensor->dims, rhs.tensor->dims, mesh);
  return plan;
}

}  // namespace shardplan
