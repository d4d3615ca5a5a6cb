#include <algorithm>
#include <cost_models/moves/reshard.hpp>
#include <set>

namespace shardplan {
namespace {

/// Builds `moves` step by step; `now` is the layout reached so far.
class Resharding {
 public:
  Resharding(Moves& moves, const Tensor& tensor, const Layout& from, const PartitionSpec& to, const Mesh& mesh,
             const Compiler& compiler)
      : moves_(moves), tensor_(tensor), to_(to), mesh_(mesh), compiler_(compiler), now_(from) {}

  void add() {
    reduce();
    slice();
    exchange();
    gather_leaving();
  }

  void add_whole_sum() {
    const AxisList split = axes_of(now_.spec);
    sum_whole(now_.partial, {}, split);
    gather_leaving();
  }

 private:
  Bytes local() const { return local_bytes(tensor_, now_.spec, mesh_); }

  void record(CollectiveKind kind, AxisList axes, Bytes bytes) {
    if (mesh_.product(axes) > 1) moves_.push_back({kind, in_mesh_order(axes), bytes, tensor_.parameter});
  }

  void reduce() {
    if (now_.partial.empty()) return;
    AxisList scattered, kept;
    for (const AxisId axis : now_.partial) (place_of(axis, to_) >= 0 ? scattered : kept).push_back(axis);
    if (const AxisList beside = split_beside(scattered); !beside.empty()) return sum_whole(scattered, kept, beside);
    const Bytes whole = local();
    for (const AxisId axis : scattered) now_.spec.dims[place_of(axis, to_)].push_back(axis);
    if (!scattered.empty()) record(sum_of(scattered), scattered, whole);
    if (!kept.empty()) record(CollectiveKind::all_reduce, kept, local());
    now_.partial.clear();
  }

  /// Of an activation, axes that split the dims already onto which others are to be scattered, and stay there; none where
  /// one of those dims is whole, which takes all (recorded: the combine under cp-as-ep).
  AxisList split_beside(const AxisList& scattered) const {
    if (tensor_.parameter || !compiler_.has(Habit::permutes_before_gathers)) return {};
    AxisList beside;
    for (std::size_t dim = 0; dim < now_.spec.dims.size(); ++dim) {
      if (common(to_.dims[dim], scattered).empty()) continue;
      const AxisList staying = common(now_.spec.dims[dim], to_.dims[dim]);
      if (staying.empty()) return {};
      beside.append(staying);
    }
    return beside;
  }

  /// Then the sum is made whole, and gathered over those too, to be sliced (recorded: gradients of tokens that a dispatch
  /// gathered over expert, beside fsdp on their batch).
  void sum_whole(const AxisList& scattered, const AxisList& kept, const AxisList& beside) {
    AxisList summed = scattered;
    summed.append(kept);
    record(CollectiveKind::all_reduce, summed, local());
    gather_group(beside);
    slice();
    now_.partial.clear();
  }

  /// Scattered into shards finer than those of an axis that is still to leave the dim, devices would have to put theirs in
  /// order: each takes its part of the sum (recorded: gradients of key and value under fsdp=4 or 8 beside tensor=2, and
  /// fsdp=8 beside tensor=4; scattered under fsdp=2 and 4 beside tensor=4).
  CollectiveKind sum_of(const AxisList& scattered) const {
    if (!compiler_.has(Habit::permutes_before_gathers)) return CollectiveKind::reduce_scatter;
    if (leaves_several_heads(scattered)) return CollectiveKind::all_reduce;
    for (std::size_t dim = 0; dim < now_.spec.dims.size(); ++dim) {
      const AxisList here = common(now_.spec.dims[dim], scattered);
      AxisList leaving = now_.spec.dims[dim];
      erase_if(leaving, [&](AxisId axis) {
        const int place = place_of(axis, to_);
        return place < 0 || place == static_cast<int>(dim);
      });
      if (!leaving.empty() && mesh_.product(leaving) < mesh_.product(here)) return CollectiveKind::all_reduce;
    }
    return CollectiveKind::reduce_scatter;
  }

  /// Sums of heads of which a device keeps more than one are made whole, too (recorded: 8 heads of key and value under
  /// tensor=2 and 4; under tensor=8, and 4 heads under tensor=4, they are scattered).
  bool leaves_several_heads(const AxisList& scattered) const {
    if (tensor_.parameter) return false;
    for (std::size_t dim = 0; dim < tensor_.dims.size(); ++dim) {
      const TensorDim& heads = tensor_.dims[dim];
      const bool counts_heads = heads.dim == Dim::q_heads || heads.dim == Dim::kv_heads;
      if (!counts_heads || common(to_.dims[dim], scattered).empty()) continue;
      if (heads.size > mesh_.product(to_.dims[dim])) return true;
    }
    return false;
  }

  void slice() {
    for (std::size_t dim = 0; dim < to_.dims.size(); ++dim)
      for (const AxisId axis : to_.dims[dim])
        if (place_of(axis, now_.spec) < 0) now_.spec.dims[dim].push_back(axis);
  }

  /// Axes of dims that lose some of their axes to other dims and others to nobody.
  AxisList leaving_with(const std::set<std::pair<int, int>>& routes) const {
    AxisList leaving;
    for (const auto& [from, to] : routes)
      for (const AxisId axis : now_.spec.dims[from])
        if (place_of(axis, to_) < 0 && !leaving.contains(axis)) leaving.push_back(axis);
    return leaving;
  }

  /// Axes of dims that lose them to nobody, and nothing to other dims.
  AxisList leaving_beside_routes() const {
    AxisList leaving;
    for (const AxisList& dim : now_.spec.dims) {
      const auto stays_or_moves = [&](AxisId axis) { return place_of(axis, to_) >= 0; };
      if (std::none_of(dim.begin(), dim.end(), stays_or_moves)) leaving.append(dim);
    }
    return leaving;
  }

  void exchange() {
    AxisList moving;
    std::set<std::pair<int, int>> routes;
    for (int from = 0; from < static_cast<int>(now_.spec.dims.size()); ++from)
      for (const AxisId axis : now_.spec.dims[from]) {
        const int to = place_of(axis, to_);
        if (to < 0 || to == from) continue;
        moving.push_back(axis);
        routes.emplace(from, to);
      }
    if (moving.empty()) return;
    if (compiler_.has(Habit::gathers_before_exchanges) && !tensor_.parameter) gather(leaving_beside_routes());
    AxisList gathered = leaving_with(routes);
    if (routes.size() == 1 && gathered.empty()) {
      exchange_in_order(moving, *routes.begin());
    } else if (gathered.empty() && compiler_.has(Habit::exchanges_dim_by_dim)) {
      for (const auto& route : routes) exchange_along(route, moving);
    } else {
      gathered.append(moving);
      gather(gathered);
    }
    now_.spec = without_axes(now_.spec, moving);
    for (const AxisId axis : moving) now_.spec.dims[place_of(axis, to_)].push_back(axis);
  }

  /// Of the moving axes those that go this way.
  void exchange_along(const std::pair<int, int>& route, AxisList moving) {
    erase_if(moving, [&](AxisId axis) {
      return place_of(axis, now_.spec) != route.first || place_of(axis, to_) != route.second;
    });
    record(CollectiveKind::all_to_all, moving, local());
  }

  /// Axes that the moving ones change places with: minor ones that they leave behind, and those of the dim that they go to
  /// that will leave it to nobody.
  AxisList met(const AxisList& moving, const std::pair<int, int>& route) const {
    AxisList others;
    bool behind = false;
    for (const AxisId axis : now_.spec.dims[route.first]) {
      if (behind && !moving.contains(axis)) others.push_back(axis);
      behind = behind || moving.contains(axis);
    }
    for (const AxisId axis : now_.spec.dims[route.second])
      if (place_of(axis, to_) < 0) others.push_back(axis);
    return others;
  }

  /// Shards of a dim that other axes split, too, have another order afterwards; where those split it as finely, putting them
  /// in order is all there is to do (recorded: fsdp=4 or 8 beside tensor=2 and fsdp=4 or 8 beside tensor=4 permute, fsdp=2
  /// beside tensor=4 or 8 exchanges and permutes, tensor alone exchanges).
  void exchange_in_order(const AxisList& moving, const std::pair<int, int>& route) {
    AxisList all = met(moving, route);
    const bool permutes = compiler_.has(Habit::permutes_before_gathers) && !all.empty();
    if (!permutes || mesh_.product(all) < mesh_.product(moving)) record(CollectiveKind::all_to_all, moving, local());
    if (!permutes) return;
    all.append(moving);
    record(CollectiveKind::collective_permute, all, local());
  }

  void gather_leaving() {
    AxisList leaving;
    for (const AxisList& dim : now_.spec.dims)
      for (const AxisId axis : dim)
        if (place_of(axis, to_) < 0) leaving.push_back(axis);
    gather(leaving);
  }

  void gather(const AxisList& leaving) {
    if (!compiler_.has(Habit::gathers_dim_by_dim)) return gather_group(leaving);
    for (std::size_t dim = now_.spec.dims.size(); dim-- > 0;) {
      gather_group(common(now_.spec.dims[dim], leaving));
    }
  }

  void gather_group(const AxisList& axes) {
    if (axes.empty()) return;
    if (compiler_.has(Habit::orders_shards_before_gathers)) order_shards(axes);
    now_.spec = without_axes(now_.spec, axes);
    record(CollectiveKind::all_gather, axes, local());
  }

  /// Shards of a weight's dim that keeps minor axes of those that leave it are put in order first.
  void order_shards(const AxisList& leaving) {
    if (!tensor_.parameter) return;
    AxisList mixed;
    for (const AxisList& dim : now_.spec.dims) {
      const auto first = std::find_if(dim.begin(), dim.end(), [&](AxisId axis) { return leaving.contains(axis); });
      const bool left_behind = std::any_of(first, dim.end(), [&](AxisId axis) { return !leaving.contains(axis); });
      if (left_behind) mixed.append(dim);
    }
    if (!mixed.empty()) record(CollectiveKind::collective_permute, mixed, local());
  }

  Moves& moves_;  ///< where they are returned: the list is larger than a layout
  const Tensor& tensor_;
  const PartitionSpec& to_;
  const Mesh& mesh_;
  const Compiler& compiler_;
  Layout now_;
};

}  // namespace

Moves reshard(const Tensor& tensor, const Layout& from, const PartitionSpec& to, const Mesh& mesh,
                          const Compiler& compiler) {
  Moves moves;
  if (has_to_move(from, to)) Resharding(moves, tensor, from, to, mesh, compiler).add();
  return moves;
}

bool is_unmatched(const AxisList& dim, const AxisList& sums) {
  const AxisList scattered = common(dim, sums);
  return !scattered.empty() && scattered.size() < dim.size();
}

Moves reshard_whole_sum(const Tensor& tensor, const Layout& from, const PartitionSpec& to, const Mesh& mesh,
                        const Compiler& compiler) {
  Moves moves;
  Resharding(moves, tensor, from, to, mesh, compiler).add_whole_sum();
  return moves;
}

}  // namespace shardplan
