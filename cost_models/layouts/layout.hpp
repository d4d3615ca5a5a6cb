#pragma once
// Where a tensor's elements are: sizes on one device, and the place of a mesh axis in a spec.
#include <initializer_list>
#include <shardplan/program.hpp>
#include <shardplan/rounding.hpp>
#include <shardplan/units.hpp>

namespace shardplan {

/// Index of the dim that `axis` splits, or -1.
inline int place_of(AxisId axis, const PartitionSpec& spec) {
  for (std::size_t dim = 0; dim < spec.dims.size(); ++dim)
    if (spec.dims[dim].contains(axis)) return static_cast<int>(dim);
  return -1;
}

/// Every axis of the spec, dims in order.
AxisList axes_of(const PartitionSpec& spec);
/// Those that split these dims of a tensor.
AxisList axes_of(const Tensor& tensor, const PartitionSpec& spec, std::initializer_list<Dim> dims);

/// Whether what lies as `from` has to be summed or moved to lie as `to`.
inline bool has_to_move(const Layout& from, const PartitionSpec& to) { return !from.partial.empty() || from.spec != to; }

/// Of a dim on one device; one that does not divide is padded, as XLA does.
inline std::int64_t local_size(const TensorDim& dim, const AxisList& axes, const Mesh& mesh) {
  return axes.empty() ? dim.size : divided_up(dim.size, mesh.product(axes));
}

/// Elements of one device's shard.
inline std::int64_t local_elements(const Dims& dims, const PartitionSpec& spec, const Mesh& mesh) {
  std::int64_t count = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) count *= local_size(dims[i], spec.dims[i], mesh);
  return count;
}

Bytes local_bytes(const Tensor& tensor, const PartitionSpec& spec, const Mesh& mesh);

}  // namespace shardplan
