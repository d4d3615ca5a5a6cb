#include <cost_models/partition/reshard.hpp>
#include <set>

namespace shardplan {
namespace {

/// Builds the moves step by step; `now` is the layout reached so far.
class Resharding {
 public:
  Resharding(const Tensor& tensor, const Layout& from, const PartitionSpec& to, const Mesh& mesh,
             const Compiler& compiler)
      : tensor_(tensor), to_(to), mesh_(mesh), compiler_(compiler), now_(from) {}

  Moves moves() {
    reduce();
    slice();
    exchange();
    gather_leaving();
    return std::move(moves_);
  }

 private:
  Bytes local() const { return local_bytes(tensor_, now_.spec, mesh_); }

  void record(CollectiveKind kind, AxisList axes, Bytes bytes) {
    if (mesh_.product(axes) > 1) moves_.push_back({kind, in_mesh_order(axes), bytes, tensor_.parameter});
  }

  void reduce() {
    AxisList scattered, kept;
    for (const AxisId axis : now_.partial) (place_of(axis, to_) >= 0 ? scattered : kept).push_back(axis);
    const Bytes whole = local();
    for (const AxisId axis : scattered) now_.spec.dims[place_of(axis, to_)].push_back(axis);
    if (!scattered.empty()) record(CollectiveKind::reduce_scatter, scattered, whole);
    if (!kept.empty()) record(CollectiveKind::all_reduce, kept, local());
    now_.partial.clear();
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

  void exchange() {
    AxisList moving;
    std::set<std::pair<int, int>> routes;
    for (const AxisId axis : axes_of(now_.spec)) {
      const int from = place_of(axis, now_.spec), to = place_of(axis, to_);
      if (to < 0 || to == from) continue;
      moving.push_back(axis);
      routes.emplace(from, to);
    }
    if (moving.empty()) return;
    AxisList gathered = leaving_with(routes);
    if (routes.size() == 1 && gathered.empty()) {
      record(CollectiveKind::all_to_all, moving, local());
    } else {
      gathered.append(moving);
      gather(gathered);
    }
    now_.spec = without_axes(now_.spec, moving);
    for (const AxisId axis : moving) now_.spec.dims[place_of(axis, to_)].push_back(axis);
  }

  void gather_leaving() {
    AxisList leaving;
    for (const AxisId axis : axes_of(now_.spec))
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
    now_.spec = without_axes(now_.spec, axes);
    record(CollectiveKind::all_gather, axes, local());
  }

  const Tensor& tensor_;
  const PartitionSpec& to_;
  const Mesh& mesh_;
  const Compiler& compiler_;
  Layout now_;
  Moves moves_;
};

}  // namespace

Moves reshard(const Tensor& tensor, const Layout& from, const PartitionSpec& to, const Mesh& mesh,
                          const Compiler& compiler) {
  if (from.partial.empty() && from.spec == to) return {};
  return Resharding(tensor, from, to, mesh, compiler).moves();
}

}  // namespace shardplan
