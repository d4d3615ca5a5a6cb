#include <algorithm>
#include <cost_models/partition/products/axis_choice.hpp>
#include <shardplan/rounding.hpp>

namespace shardplan {
namespace {

using MaybeDim = std::optional<Dim>;

/// Which dim of the product one mesh axis splits; nothing: the axis splits none, whoever has it is gathered.
class Chooser {
 public:
  Chooser(const ProductTensors& product, const Mesh& mesh, const Compiler& compiler)
      : lhs_(product.lhs),
        rhs_(product.rhs),
        result_(product.result),
        mesh_(mesh),
        compiler_(compiler),
        goes_by_size_(goes_by_size()) {}

  AxisChoice of(AxisId axis) const {
    const MaybeDim left = lhs_.split_by(axis), right = rhs_.split_by(axis), wanted = result_.split_by(axis);
    if (left && left == right) return {axis, agreed(axis, *left, wanted), is_summed_apart(axis, *left, wanted)};
    if (left && right) return {axis, clash(axis, *left, *right, wanted)};
    if (left) return {axis, one_sided(axis, *left, lhs_, rhs_, wanted)};
    if (right) return {axis, one_sided(axis, *right, rhs_, lhs_, wanted)};
    if (wanted == Dim::experts && lhs_.has(*wanted) && rhs_.has(*wanted)) return {axis, wanted};  // both are sliced for free
    return {axis};  // nobody has it: computed alike on all its devices, the result is sliced
  }

 private:
  /// Global elements of the operands and of the result that the axis splits on this dim.
  std::int64_t votes(AxisId axis, Dim dim) const {
    const auto of = [&](const ProductTensor& tensor) { return tensor.split_by(axis) == dim ? tensor.elements() : 0; };
    return of(lhs_) + of(rhs_) + of(result_);
  }

  /// Whether tensors vote on their axes: not inside the experts' shard_map.
  bool goes_by_size() const {
    return compiler_.has(Habit::lays_out_products_by_size) && !lhs_.has(Dim::rows) && !rhs_.has(Dim::rows) &&
           !result_.has(Dim::rows);
  }

  /// Shardy decides product by product (shardy/dialect/sdy/transforms/export/explicit_reshards_util.cc,
  /// findCommonAxesHeuristic: the largest total_global_source_tensor_size). Key and value of grouped queries, from
  /// [tokens, embed / t] and [embed, heads / t]: tokens * embed against tokens * heads + embed * heads.
  bool is_outvoted(AxisId axis, Dim dim, Dim other) const { return goes_by_size_ && votes(axis, dim) < votes(axis, other); }

  /// Whether a dim that both operands contract is outvoted by one that they have split more finely than the axis would.
  /// Recorded: gradients of what key and value are projected from are scattered sums under fsdp=4 or 8 with tensor=2 and
  /// fsdp=8 with tensor=4, not under fsdp=2 with tensor=4 or 8, fsdp=4 with tensor=4 and without fsdp.
  bool is_summed_apart(AxisId axis, Dim dim, MaybeDim wanted) const {
    if (!wanted || wanted == dim || result_.has(dim) || !is_outvoted(axis, dim, *wanted)) return false;
    return mesh_.size(axis) < std::max(lhs_.parts(*wanted, mesh_), rhs_.parts(*wanted, mesh_));
  }

  /// Both operands split the same dim: that is where the product is computed, where they agree on the parts of every device
  /// (a dispatch of sequences that context splits, too: mixtral8x7bx3_v5p8_cp2ep4_fix_halfbatch; one of features that tensor
  /// splits: mixtral8x7bx3_v5p8_tensor2_expert4_fix_full). Else, where the result
  /// wants the axis on another dim: operands are brought to the result's layout (recorded: wo of a peeled dispatch falls
  /// back to being gathered over expert beside fsdp that splits the batch, and beside context).
  MaybeDim agreed(AxisId axis, Dim dim, MaybeDim wanted) const {
    if (!wanted || wanted == dim) return dim;
    if (goes_by_size_) return is_outvoted(axis, dim, *wanted) && !is_summed_apart(axis, dim, wanted) ? wanted : dim;
    if (!result_.has(dim)) return dim;
    if (!compiler_.has(Habit::whole_mesh_operands_first)) return dim;
    // Stages are a batch dim of the product, too.
    const std::int64_t beside = mesh_.devices() / mesh_.size_of(AxisRole::stage);
    return agreed_parts() * kept_parts(lhs_, rhs_) * kept_parts(rhs_, lhs_) == beside ? dim : wanted;
  }

  /// Of the dims that both operands split alike, contracted ones among them.
  std::int64_t agreed_parts() const {
    std::int64_t all = 1;
    for (std::size_t i = 0; i < lhs_.dims().size(); ++i)
      for (std::size_t j = 0; j < rhs_.dims().size(); ++j)
        if (lhs_.dims()[i].dim == rhs_.dims()[j].dim && lhs_.spec().dims[i] == rhs_.spec().dims[j])
          all *= mesh_.product(lhs_.spec().dims[i]);
    return all;
  }

  /// Of dims that one operand has alone and the result is wanted to split as it does.
  std::int64_t kept_parts(const ProductTensor& own, const ProductTensor& other) const {
    std::int64_t all = 1;
    for (std::size_t i = 0; i < own.dims().size(); ++i) {
      if (other.has(own.dims()[i].dim)) continue;
      for (std::size_t j = 0; j < result_.dims().size(); ++j)
        if (result_.dims()[j].dim == own.dims()[i].dim && result_.spec().dims[j] == own.spec().dims[i])
          all *= mesh_.product(own.spec().dims[i]);
    }
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
    if (result_.has(left) != result_.has(right)) return result_.has(left) ? left : right;
    return lhs_.elements() >= rhs_.elements() ? left : right;
  }

  /// Only one operand has the axis. Where products are laid out by size it stays, contracted or not, but for a result that
  /// wants it on another dim and is larger (recorded: combine and router under cp-as-ep). Else
  ///   a dim of the result that the result wants elsewhere, on a dim of the other operand: there (the other is sliced for
  ///     free, this one gathered: tokens for experts whose rules leave the batch without the expert axis, and features
  ///     where rules split them over it: mixtral8x7bx4_v5p8_eptp_fsdp2ep4)
  ///   a dim of all three that constraints leave whole in the other operand and in the result: this operand is gathered
  ///     (weights of experts that rules leave off the dispatch: wi_0 and wi_1; wo reads hidden rows, which no constraint
  ///     says where they are, so that they are sliced: mixtral8x7bx4_v5p8_ep8_offdispatch)
  ///   another dim of the result: the result inherits it
  ///   contracted experts (the combine after such a dispatch): rows go where the result wants the axis, else partial sums
  ///   words of one-hot ids, which a device compares with its own: partial sums of the table's rows, and for its gradient
  ///     theirs is gathered (recorded: qwen314bx4_v6e4_tensor4_save_out_proj)
  ///   contracted, and the result whole along the axis: partial sums where this operand, gathered, would outgrow it
  ///   contracted, and the result wants it on the other's features: likewise (recorded: deepseek216bx5_v5p4_tp4_dm)
  ///   contracted beside another dim that both operands split, where this operand, gathered, would outgrow the result:
  ///     partial sums over this axis too
  ///   contracted otherwise: this operand is gathered rather than the other's features sliced; tokens are gathered and
  ///     features sliced (recorded: weights of attention inputs whose sequence a rule set leaves whole)
  MaybeDim one_sided(AxisId axis, Dim dim, const ProductTensor& own, const ProductTensor& other, MaybeDim wanted) const {
    const bool elsewhere = wanted && wanted != dim && other.has(*wanted);
    if (goes_by_size_) return wanted && is_outvoted(axis, dim, *wanted) ? wanted : dim;
    const bool one_hot = !other.differentiable() && other.has(Dim::vocab);
    const bool gives_way = is_sliced(dim) || (one_hot && wanted == Dim::vocab) || wanted == Dim::experts;
    const bool pinned_whole = !wanted && other.pinned() && other.has(dim) && result_.has_spec();
    if (result_.has(dim) && pinned_whole) return std::nullopt;
    if (result_.has(dim)) return elsewhere && gives_way ? wanted : dim;
    if (one_hot && dim == Dim::vocab) return dim;
    if (dim != Dim::experts && elsewhere && outgrows_result(dim, own, other)) return dim;
    if (dim == Dim::experts) return wanted && compiler_.has(Habit::sends_expert_rows) ? wanted : dim;
    if (!wanted && outgrows_whole_result(dim, own, other)) return dim;
    if (elsewhere && !counts_tokens(dim) && !is_sliced(*wanted) && outgrows_sum(axis, dim, own)) return dim;
    return elsewhere && (is_sliced(*wanted) || counts_tokens(dim)) ? wanted : std::nullopt;
  }

  bool is_sliced(Dim dim) const { return counts_tokens(dim) || !compiler_.has(Habit::slices_tokens_only); }

  /// Whether an operand that is split on a contracted dim has more elements, once it is whole along that dim, than the
  /// product; and the product is a partial sum anyway.
  bool outgrows_result(Dim dim, const ProductTensor& own, const ProductTensor& other) const {
    if (!compiler_.has(Habit::slices_before_larger_gathers)) return false;
    bool sums_anyway = false;
    std::int64_t gathered = 1;
    for (std::size_t i = 0; i < own.dims().size(); ++i) {
      const TensorDim& d = own.dims()[i];
      const std::int64_t parts = d.dim == dim ? 1 : mesh_.product(own.spec().dims[i]);
      gathered *= divided_up(d.size, parts);
      sums_anyway = sums_anyway || (d.dim != dim && !result_.has(d.dim) && parts > 1 &&
                                    other.parts(d.dim, mesh_) == parts);
    }
    std::int64_t product = 1;
    for (const TensorDim& d : result_.dims())
      product *= divided_up(d.size, std::max(own.parts(d.dim, mesh_), other.parts(d.dim, mesh_)));
    return sums_anyway && gathered > product;
  }

  /// Whether an operand that is split on a contracted dim has more elements, once it is whole along that dim, than the
  /// partial sums that it makes as it is.
  bool outgrows_sum(AxisId axis, Dim dim, const ProductTensor& own) const {
    if (!result_.has_spec() || !compiler_.has(Habit::slices_before_larger_gathers)) return false;
    std::int64_t gathered = 1;
    for (std::size_t i = 0; i < own.dims().size(); ++i) {
      const TensorDim& d = own.dims()[i];
      gathered *= divided_up(d.size, d.dim == dim ? 1 : mesh_.product(own.spec().dims[i]));
    }
    return gathered > local_elements(result_.dims(), result_.spec(), mesh_) * mesh_.size(axis);
  }

  /// Whether an operand that is split on a contracted dim has more elements, once it is whole along that dim, than the
  /// result, which is whole along these axes like the other operand.
  bool outgrows_whole_result(Dim dim, const ProductTensor& own, const ProductTensor& other) const {
    if (!result_.has_spec() || !compiler_.has(Habit::slices_before_larger_gathers)) return false;
    std::int64_t gathered = 1;
    for (std::size_t i = 0; i < own.dims().size(); ++i) {
      const TensorDim& d = own.dims()[i];
      const AxisList& axes = own.spec().dims[i];
      gathered *= divided_up(d.size, d.dim == dim ? 1 : mesh_.product(axes));
      if (d.dim != dim) continue;
      for (const AxisId axis : axes)
        if (result_.split_by(axis) || other.split_by(axis)) return false;
    }
    return gathered > local_elements(result_.dims(), result_.spec(), mesh_);
  }

  const ProductTensor &lhs_, &rhs_, &result_;
  const Mesh& mesh_;
  const Compiler& compiler_;
  const bool goes_by_size_;
};

}  // namespace

bool counts_tokens(Dim dim) {
  return dim == Dim::batch || dim == Dim::sequence || dim == Dim::rows || dim == Dim::capacity;
}

ProductTensor::ProductTensor(const Dims& dims, const PartitionSpec* spec, bool differentiable)
    : dims_(dims), spec_(spec), differentiable_(differentiable) {
  place_of_.fill(-1);
  for (std::size_t i = dims.size(); i-- > 0;) {
    present_ |= std::uint64_t{1} << static_cast<int>(dims[i].dim);
    if (!spec) continue;
    for (const AxisId axis : spec->dims[i]) place_of_[axis] = static_cast<std::int8_t>(i);
  }
}

std::int64_t ProductTensor::elements() const { return elements_of(dims_); }

std::int64_t ProductTensor::parts(Dim dim, const Mesh& mesh) const {
  for (std::size_t i = 0; i < dims_.size(); ++i)
    if (dims_[i].dim == dim) return mesh.product(spec_->dims[i]);
  return 1;
}

AxisChoices choose_axes(const ProductTensors& product, const Mesh& mesh, const Compiler& compiler) {
  const Chooser chooser(product, mesh, compiler);
  AxisChoices choices;
  for (std::size_t axis = 0; axis < mesh.axes.size(); ++axis)
    if (mesh.axes[axis].size() > 1) choices.push_back(chooser.of(static_cast<AxisId>(axis)));
  return choices;
}

}  // namespace shardplan
