#include <algorithm>
#include <cost_models/partition/einsum_plan.hpp>
#include <optional>
#include <shardplan/rounding.hpp>

namespace shardplan {
namespace {

using MaybeDim = std::optional<Dim>;

/// Tokens are sliced for free where the result wants a part of them; features are not.
bool counts_tokens(Dim dim) {
  return dim == Dim::batch || dim == Dim::sequence || dim == Dim::rows || dim == Dim::capacity;
}

MaybeDim dim_at(AxisId axis, const std::vector<TensorDim>& dims, const PartitionSpec& spec) {
  const int place = place_of(axis, spec);
  return place < 0 ? std::nullopt : MaybeDim(dims[place].dim);
}

struct Choice {
  AxisId axis = 0;
  MaybeDim dim = {};   ///< none: whoever has the axis is gathered
  bool apart = false;  ///< EinsumPlan::sums_apart
};
using Choices = InlineList<Choice, most_mesh_axes>;

/// Which dim of the product one mesh axis splits; nothing: the axis splits none, whoever has it is gathered.
class AxisChoice {
 public:
  AxisChoice(const EinsumOperand& lhs, const EinsumOperand& rhs, const std::vector<TensorDim>& result,
             const PartitionSpec* target, const Mesh& mesh, const Compiler& compiler)
      : lhs_(lhs), rhs_(rhs), result_(result), target_(target), mesh_(mesh), compiler_(compiler) {}

  Choice of(AxisId axis) const {
    const MaybeDim left = dim_at(axis, lhs_.tensor->dims, lhs_.spec);
    const MaybeDim right = dim_at(axis, rhs_.tensor->dims, rhs_.spec);
    const MaybeDim wanted = target_ ? dim_at(axis, result_, *target_) : std::nullopt;
    if (left && left == right) return {axis, agreed(axis, *left, wanted), is_summed_apart(axis, *left, wanted)};
    if (left && right) return {axis, clash(axis, *left, *right, wanted)};
    if (left) return {axis, one_sided(axis, *left, lhs_, rhs_, wanted)};
    if (right) return {axis, one_sided(axis, *right, rhs_, lhs_, wanted)};
    return {axis};  // nobody has it: computed alike on all its devices, the result is sliced
  }

 private:
  /// Global elements of the operands and of the result that the axis splits on this dim.
  std::int64_t votes(AxisId axis, Dim dim) const {
    const auto of = [&](const std::vector<TensorDim>& dims, const PartitionSpec& spec) {
      return dim_at(axis, dims, spec) == dim ? elements_of(dims) : 0;
    };
    return of(lhs_.tensor->dims, lhs_.spec) + of(rhs_.tensor->dims, rhs_.spec) + (target_ ? of(result_, *target_) : 0);
  }

  /// Whether tensors vote on their axes: not inside the experts' shard_map.
  bool goes_by_size() const {
    return compiler_.has(Habit::lays_out_products_by_size) && !has(lhs_.tensor->dims, Dim::rows) &&
           !has(rhs_.tensor->dims, Dim::rows) && !has(result_, Dim::rows);
  }

  /// Shardy decides product by product (shardy/dialect/sdy/transforms/export/explicit_reshards_util.cc,
  /// findCommonAxesHeuristic: the largest total_global_source_tensor_size). Key and value of grouped queries, from
  /// [tokens, embed / t] and [embed, heads / t]: tokens * embed against tokens * heads + embed * heads.
  bool is_outvoted(AxisId axis, Dim dim, Dim other) const { return goes_by_size() && votes(axis, dim) < votes(axis, other); }

  /// Whether a dim that both operands contract is outvoted by one that they have split more finely than the axis would.
  /// Recorded: gradients of what key and value are projected from are scattered sums under fsdp=4 or 8 with tensor=2 and
  /// fsdp=8 with tensor=4, not under fsdp=2 with tensor=4 or 8, fsdp=4 with tensor=4 and without fsdp.
  bool is_summed_apart(AxisId axis, Dim dim, MaybeDim wanted) const {
    if (!wanted || wanted == dim || has(result_, dim) || !is_outvoted(axis, dim, *wanted)) return false;
    return mesh_.size(axis) <
           std::max(parts(*wanted, lhs_.tensor->dims, lhs_.spec), parts(*wanted, rhs_.tensor->dims, rhs_.spec));
  }

  std::int64_t parts(Dim dim, const std::vector<TensorDim>& dims, const PartitionSpec& spec) const {
    for (std::size_t i = 0; i < dims.size(); ++i)
      if (dims[i].dim == dim) return mesh_.product(spec.dims[i]);
    return 1;
  }

  /// Both operands split the same dim: that is where the product is computed, where they agree on the parts of every device
  /// (a dispatch of sequences that context splits, too: mixtral8x7bx3_v5p8_cp2ep4_fix_halfbatch). Else, where the result
  /// wants the axis on another dim: operands are brought to the result's layout (recorded: wo of a peeled dispatch falls
  /// back to being gathered over expert beside fsdp that splits the batch, and beside context).
  MaybeDim agreed(AxisId axis, Dim dim, MaybeDim wanted) const {
    if (!wanted || wanted == dim) return dim;
    if (goes_by_size()) return is_outvoted(axis, dim, *wanted) && !is_summed_apart(axis, dim, wanted) ? wanted : dim;
    if (!has(result_, dim)) return dim;
    if (!compiler_.has(Habit::whole_mesh_operands_first)) return dim;
    // Stages are a batch dim of the product, too.
    const std::int64_t beside = mesh_.devices() / mesh_.size_of(AxisRole::stage);
    return agreed_parts() == beside ? dim : wanted;
  }

  /// Of the dims that both operands split alike, contracted ones among them.
  std::int64_t agreed_parts() const {
    std::int64_t all = 1;
    for (std::size_t i = 0; i < lhs_.tensor->dims.size(); ++i)
      for (std::size_t j = 0; j < rhs_.tensor->dims.size(); ++j)
        if (lhs_.tensor->dims[i].dim == rhs_.tensor->dims[j].dim && lhs_.spec.dims[i] == rhs_.spec.dims[j])
          all *= mesh_.product(lhs_.spec.dims[i]);
    return all;
  }

  /// The axis splits different dims of the two operands: one must give way. The result's constraint decides
  /// (SHARDING.md 1.6: this is how a batch dim that holds the expert axis forces the expert weights to be gathered)
  /// unless it is outvoted; without one a contracted dim gives way (no partial sums), else the operand of fewer elements,
  /// those of all devices, moves (shardy/dialect/sdy/transforms/propagation/aggressive_factor_propagation.cc sorts factors
  /// by their largest source tensor; recorded: attention's weights under ep-as-cp,
  /// mixtral8x22bx3_v5p16_data4_expert2_dm_epascp_qkv_proj_offloaded).
  MaybeDim clash(AxisId axis, Dim left, Dim right, MaybeDim wanted) const {
    if (wanted == left || wanted == right) {
      const Dim other = wanted == left ? right : left;
      return is_outvoted(axis, *wanted, other) ? other : *wanted;
    }
    if (has(result_, left) != has(result_, right)) return has(result_, left) ? left : right;
    return elements_of(lhs_.tensor->dims) >= elements_of(rhs_.tensor->dims) ? left : right;
  }

  /// Only one operand has the axis. Where products are laid out by size it stays, contracted or not, but for a result that
  /// wants it on another dim and is larger (recorded: combine and router under cp-as-ep). Else
  ///   a dim of the result that the result wants elsewhere, on a dim of the other operand: there (the other is sliced for
  ///     free, this one gathered: tokens for experts whose rules leave the batch without the expert axis, and features
  ///     where rules split them over it: mixtral8x7bx4_v5p8_eptp_fsdp2ep4)
  ///   another dim of the result: the result inherits it
  ///   contracted experts (the combine after such a dispatch): rows go where the result wants the axis, else partial sums
  ///   words of one-hot ids, which a device compares with its own: partial sums of the table's rows, and for its gradient
  ///     theirs is gathered (recorded: qwen314bx4_v6e4_tensor4_save_out_proj)
  ///   contracted, and the result whole along the axis: partial sums where this operand, gathered, would outgrow it
  ///   contracted beside another dim that both operands split, where this operand, gathered, would outgrow the result:
  ///     partial sums over this axis too
  ///   contracted otherwise: this operand is gathered rather than the other's features sliced; tokens are gathered and
  ///     features sliced (recorded: weights of attention inputs whose sequence a rule set leaves whole)
  MaybeDim one_sided(AxisId axis, Dim dim, const EinsumOperand& own, const EinsumOperand& other, MaybeDim wanted) const {
    const bool elsewhere = wanted && wanted != dim && has(other.tensor->dims, *wanted);
    if (goes_by_size()) return wanted && is_outvoted(axis, dim, *wanted) ? wanted : dim;
    const bool one_hot = !other.tensor->differentiable && has(other.tensor->dims, Dim::vocab);
    const bool gives_way = is_sliced(dim) || (one_hot && wanted == Dim::vocab) || wanted == Dim::experts;
    if (has(result_, dim)) return elsewhere && gives_way ? wanted : dim;
    if (one_hot && dim == Dim::vocab) return dim;
    if (dim != Dim::experts && elsewhere && outgrows_result(dim, own, other)) return dim;
    if (dim == Dim::experts) return wanted && compiler_.has(Habit::sends_expert_rows) ? wanted : dim;
    if (!wanted && outgrows_whole_result(dim, own, other)) return dim;
    return elsewhere && (is_sliced(*wanted) || counts_tokens(dim)) ? wanted : std::nullopt;
  }

  bool is_sliced(Dim dim) const { return counts_tokens(dim) || !compiler_.has(Habit::slices_tokens_only); }

  /// Whether an operand that is split on a contracted dim has more elements, once it is whole along that dim, than the
  /// product; and the product is a partial sum anyway.
  bool outgrows_result(Dim dim, const EinsumOperand& own, const EinsumOperand& other) const {
    if (!compiler_.has(Habit::slices_before_larger_gathers)) return false;
    bool sums_anyway = false;
    std::int64_t gathered = 1;
    for (std::size_t i = 0; i < own.tensor->dims.size(); ++i) {
      const TensorDim& d = own.tensor->dims[i];
      const std::int64_t parts = d.dim == dim ? 1 : mesh_.product(own.spec.dims[i]);
      gathered *= divided_up(d.size, parts);
      sums_anyway = sums_anyway || (d.dim != dim && !has(result_, d.dim) && parts > 1 &&
                                    this->parts(d.dim, other.tensor->dims, other.spec) == parts);
    }
    std::int64_t product = 1;
    for (const TensorDim& d : result_) {
      const std::int64_t split = std::max(parts(d.dim, own.tensor->dims, own.spec),
                                          parts(d.dim, other.tensor->dims, other.spec));
      product *= divided_up(d.size, split);
    }
    return sums_anyway && gathered > product;
  }

  /// Whether an operand that is split on a contracted dim has more elements, once it is whole along that dim, than the
  /// result, which is whole along these axes like the other operand.
  bool outgrows_whole_result(Dim dim, const EinsumOperand& own, const EinsumOperand& other) const {
    if (!target_ || !compiler_.has(Habit::slices_before_larger_gathers)) return false;
    std::int64_t gathered = 1;
    for (std::size_t i = 0; i < own.tensor->dims.size(); ++i) {
      const TensorDim& d = own.tensor->dims[i];
      const AxisList& axes = own.spec.dims[i];
      gathered *= divided_up(d.size, d.dim == dim ? 1 : mesh_.product(axes));
      if (d.dim != dim) continue;
      for (const AxisId axis : axes)
        if (place_of(axis, *target_) >= 0 || place_of(axis, other.spec) >= 0) return false;
    }
    return gathered > local_elements(result_, *target_, mesh_);
  }

  const EinsumOperand& lhs_;
  const EinsumOperand& rhs_;
  const std::vector<TensorDim>& result_;
  const PartitionSpec* target_;
  const Mesh& mesh_;
  const Compiler& compiler_;
};

/// An axis that shares a contracted dim with others can't leave it alone: when one must, the dim is contracted whole,
/// and the others split what the result wants (recorded: the gradient of that wo gathers both its operands). So does
/// the one that leaves where only its own operand has that dim (recorded: a router's gradient exchanges the tokens).
Choices with_whole_contractions(Choices choices, const EinsumOperand& lhs, const EinsumOperand& rhs,
                                const std::vector<TensorDim>& result, const PartitionSpec* target) {
  const Choices before = choices;
  for (const auto& [operand, other] : {std::pair{&lhs, &rhs}, std::pair{&rhs, &lhs}})
    for (std::size_t i = 0; i < operand->spec.dims.size(); ++i) {
      const Dim dim = operand->tensor->dims[i].dim;
      const AxisList& axes = operand->spec.dims[i];
      if (has(result, dim) || axes.size() < 2) continue;
      const auto leaves = [&](const auto& choice) { return axes.contains(choice.axis) && choice.dim != dim; };
      if (std::none_of(before.begin(), before.end(), leaves)) continue;
      for (auto& [axis, chosen, apart] : choices) {
        const MaybeDim wanted = target ? dim_at(axis, result, *target) : std::nullopt;
        const bool own = wanted && has(operand->tensor->dims, *wanted) && !has(other->tensor->dims, *wanted);
        if (chosen == dim || (!chosen && axes.contains(axis) && own)) chosen = wanted;
      }
    }
  return choices;
}

/// Nor can an axis leave a dim of the result alone that it shares with others: the operand is gathered whole. These others
/// split tokens of the other operand, where the result wants that (recorded: gradients of the tokens that a router reads
/// under fsdp and expert), or nothing (wo under fsdp and context, which the dispatched rows don't have).
Choices with_whole_operands(Choices choices, const EinsumOperand& lhs, const EinsumOperand& rhs,
                            const std::vector<TensorDim>& result, const PartitionSpec* target) {
  if (!target) return choices;
  const Choices before = choices;
  for (const auto& [operand, other] : {std::pair{&lhs, &rhs}, std::pair{&rhs, &lhs}})
    for (std::size_t i = 0; i < operand->spec.dims.size(); ++i) {
      const Dim dim = operand->tensor->dims[i].dim;
      const AxisList& axes = operand->spec.dims[i];
      if (!has(result, dim) || axes.size() < 2) continue;
      const auto leaves = [&](const Choice& choice) { return axes.contains(choice.axis) && choice.dim != dim; };
      if (std::none_of(before.begin(), before.end(), leaves)) continue;
      for (Choice& choice : choices) {
        if (choice.dim != dim || !axes.contains(choice.axis)) continue;
        const MaybeDim wanted = dim_at(choice.axis, result, *target);
        if (!wanted || (counts_tokens(*wanted) && has(other->tensor->dims, *wanted))) choice.dim = wanted;
      }
    }
  return choices;
}

/// The spec of `dims` under the choices; a dim that keeps its axes keeps their order too.
PartitionSpec spec_under(const Choices& choices, const std::vector<TensorDim>& dims, const PartitionSpec* before) {
  PartitionSpec spec;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    AxisList axes;
    for (const auto& [axis, dim, apart] : choices)
      if (dim == dims[i].dim) axes.push_back(axis);
    if (before && std::is_permutation(axes.begin(), axes.end(), before->dims[i].begin(), before->dims[i].end()))
      axes = before->dims[i];
    spec.dims.push_back(std::move(axes));
  }
  return spec;
}

/// A dim's part on one device.
double local_size(const TensorDim& d, const Choices& choices, const Mesh& mesh) {
  std::int64_t parts = 1;
  for (const auto& [axis, dim, apart] : choices)
    if (dim == d.dim) parts *= mesh.size(axis);
  return static_cast<double>(divided_up(d.size, parts));
}

/// Dims of both operands and of the result are batch dims: groups.
MatrixShape local_shape(const Choices& choices, const std::vector<TensorDim>& lhs, const std::vector<TensorDim>& rhs,
                        const std::vector<TensorDim>& result, const Mesh& mesh) {
  MatrixShape shape{1, 1, 1, 1};
  for (const auto& d : lhs) {
    double& size = !has(rhs, d.dim) ? shape.m : has(result, d.dim) ? shape.groups : shape.k;
    size *= local_size(d, choices, mesh);
  }
  for (const auto& d : rhs)
    if (!has(lhs, d.dim)) shape.n *= local_size(d, choices, mesh);
  return shape;
}

}  // namespace

EinsumPlan plan_einsum(const EinsumOperand& lhs, const EinsumOperand& rhs, const std::vector<TensorDim>& result_dims,
                       const PartitionSpec* target, const Mesh& mesh, const Compiler& compiler) {
  const AxisChoice choice(lhs, rhs, result_dims, target, mesh, compiler);
  Choices choices;
  for (std::size_t axis = 0; axis < mesh.axes.size(); ++axis)
    if (mesh.axes[axis].size() > 1)
      choices.push_back(choice.of(static_cast<AxisId>(axis)));

  if (compiler.has(Habit::contracts_whole_dims))
    choices = with_whole_contractions(std::move(choices), lhs, rhs, result_dims, target);
  if (compiler.has(Habit::gathers_operands_whole))
    choices = with_whole_operands(std::move(choices), lhs, rhs, result_dims, target);

  EinsumPlan plan;
  plan.lhs = spec_under(choices, lhs.tensor->dims, &lhs.spec);
  plan.rhs = spec_under(choices, rhs.tensor->dims, &rhs.spec);
  plan.result.spec = spec_under(choices, result_dims, target);
  for (const auto& [axis, dim, apart] : choices) {
    if (dim && !has(result_dims, *dim)) plan.result.partial.push_back(axis);
    plan.sums_apart = plan.sums_apart || apart;
  }
  // A weight that is gathered alone is so first.
  const bool left = plan.lhs != lhs.spec, right = plan.rhs != rhs.spec;
  const bool alone = (left && !right && lhs.tensor->parameter) || (right && !left && rhs.tensor->parameter);
  if (compiler.has(Habit::gathers_activations_per_consumer) && (left || right) && !alone)
    plan.groups = product_groups(lhs, rhs, result_dims, target ? *target : plan.result.spec, mesh);
  plan.shape = local_shape(choices, lhs.tensor->dims, rhs.tensor->dims, result_dims, mesh);
  return plan;
}

}  // namespace shardplan
