#include <cost_models/partition/products/product_groups.hpp>

namespace shardplan {
namespace {

/// What an operand has left to be matched, and how large it is by now.
struct Side {
  const Dims& dims;
  PartitionSpec spec;
  std::int64_t bytes;
  AxisList groups = {};
  bool gathered = false;
};

class Matching {
 public:
  Matching(const EinsumOperand& lhs, const EinsumOperand& rhs, const Dims& result_dims,
           const PartitionSpec& result, const Mesh& mesh)
      : lhs_{lhs.tensor->dims, lhs.spec, local_bytes(*lhs.tensor, lhs.spec, mesh).value},
        rhs_{rhs.tensor->dims, rhs.spec, local_bytes(*rhs.tensor, rhs.spec, mesh).value},
        result_dims_(result_dims),
        result_(result),
        mesh_(mesh) {}

  ProductGroups groups() {
    while (matches_batch() || matches_own() || matches_contracted()) {
    }
    for (Side* side : {&lhs_, &rhs_})
      if (!side->gathered) side->groups = matched_;
    return {lhs_.groups, rhs_.groups};
  }

 private:
  enum class Kind : std::uint8_t { batch, own, contracted };

  static Kind kind_of(Dim dim, const Dims& other, const Dims& result) {
    return !has(result, dim) ? Kind::contracted : has(other, dim) ? Kind::batch : Kind::own;
  }

  const Side& other(const Side& side) const { return &side == &lhs_ ? rhs_ : lhs_; }

  /// Axes that split the side's dims of one kind.
  AxisList of_side(const Side& side, Kind kind) const {
    AxisList axes;
    for (std::size_t i = 0; i < side.dims.size(); ++i)
      if (kind_of(side.dims[i].dim, other(side).dims, result_dims_) == kind) axes.append(side.spec.dims[i]);
    return axes;
  }

  /// Those of the result that split the side's dims of this kind.
  AxisList of_result(const Side& side, Kind kind) const {
    AxisList axes;
    for (std::size_t i = 0; i < result_dims_.size(); ++i) {
      const Dim dim = result_dims_[i].dim;
      if (has(side.dims, dim) && kind_of(dim, other(side).dims, result_dims_) == kind) axes.append(result_.dims[i]);
    }
    return axes;
  }

  /// Goes on inside the groups of `axes`. A side that has some of them elsewhere is gathered over those.
  void take(const AxisList& axes, Kind kind, const Side* owner) {
    for (Side* side : {&lhs_, &rhs_}) {
      const AxisList kept = owner && owner != side ? AxisList{} : of_side(*side, kind);
      const AxisList moved = without(common(axes_of(side->spec), axes), kept);
      if (!moved.empty() && !side->gathered) {
        side->gathered = true;
        side->groups = matched_;
      }
      side->bytes *= mesh_.product(moved);
      side->spec = without_axes(side->spec, axes);
    }
    result_ = without_axes(result_, axes);
    matched_.append(axes);
    matched_.sort();
  }

  bool matches_batch() {
    const AxisList wanted = of_result(lhs_, Kind::batch);
    const auto fits = [&](const Side& side) { return in_mesh_order(of_side(side, Kind::batch)) == in_mesh_order(wanted); };
    if (wanted.empty() || !(fits(lhs_) || fits(rhs_))) return false;
    take(wanted, Kind::batch, nullptr);
    return true;
  }

  bool may_match(const Side& side) const {
    const AxisList own = of_side(side, Kind::own);
    return !own.empty() && mesh_.product(own) == mesh_.product(of_result(side, Kind::own));
  }

  /// Where the result is split as both operands are, the one that makes the other's gather the smaller one.
  bool matches_own() {
    const bool left = may_match(lhs_), right = may_match(rhs_);
    const auto parts = [&](const Side& side) { return mesh_.product(of_side(side, Kind::own)); };
    const bool left_first = left && (!right || parts(lhs_) * rhs_.bytes < parts(rhs_) * lhs_.bytes);
    if (left || right) return takes_own(left_first ? lhs_ : rhs_);
    return takes_own_in_part(lhs_) || takes_own_in_part(rhs_);
  }

  bool takes_own(const Side& side) {
    const AxisList own = of_side(side, Kind::own);
    if (in_mesh_order(own) != in_mesh_order(of_result(side, Kind::own))) return false;  // other groups of devices
    take(own, Kind::own, &side);
    return true;
  }

  /// The dims that agree.
  bool takes_own_in_part(const Side& side) {
    AxisList axes;
    for (std::size_t i = 0; i < side.dims.size(); ++i) {
      const Dim dim = side.dims[i].dim;
      if (kind_of(dim, other(side).dims, result_dims_) != Kind::own) continue;
      for (std::size_t j = 0; j < result_dims_.size(); ++j)
        if (result_dims_[j].dim == dim && result_.dims[j] == side.spec.dims[i]) axes.append(side.spec.dims[i]);
    }
    if (axes.empty()) return false;
    take(axes, Kind::own, &side);
    return true;
  }

  bool matches_contracted() {
    AxisList axes;
    for (std::size_t i = 0; i < lhs_.dims.size(); ++i)
      for (std::size_t j = 0; j < rhs_.dims.size(); ++j)
        if (lhs_.dims[i].dim == rhs_.dims[j].dim && !has(result_dims_, lhs_.dims[i].dim))
          axes.append(common(lhs_.spec.dims[i], rhs_.spec.dims[j]));
    if (axes.empty()) return false;
    take(axes, Kind::contracted, nullptr);
    return true;
  }

  Side lhs_, rhs_;
  const Dims& result_dims_;
  PartitionSpec result_;
  const Mesh& mesh_;
  AxisList matched_;  ///< in mesh order
};

}  // namespace

ProductGroups product_groups(const EinsumOperand& lhs, const EinsumOperand& rhs, const Dims& result_dims,
                             const PartitionSpec& result, const Mesh& mesh) {
  return Matching(lhs, rhs, result_dims, result, mesh).groups();
}

}  // namespace shardplan
