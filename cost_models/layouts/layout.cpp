#include <cost_models/layouts/layout.hpp>
#include <shardplan/rounding.hpp>

namespace shardplan {

int place_of(AxisId axis, const PartitionSpec& spec) {
  for (std::size_t dim = 0; dim < spec.dims.size(); ++dim)
    if (spec.dims[dim].contains(axis)) return static_cast<int>(dim);
  return -1;
}

AxisList axes_of(const PartitionSpec& spec) {
  AxisList all;
  for (const auto& axes : spec.dims) all.append(axes);
  return all;
}

AxisList axes_of(const Tensor& tensor, const PartitionSpec& spec, std::initializer_list<Dim> dims) {
  AxisList axes;
  for (std::size_t i = 0; i < tensor.dims.size(); ++i)
    for (const Dim dim : dims)
      if (tensor.dims[i].dim == dim) axes.append(spec.dims[i]);
  return axes;
}

std::int64_t local_elements(const std::vector<TensorDim>& dims, const PartitionSpec& spec, const Mesh& mesh) {
  std::int64_t count = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) count *= divided_up(dims[i].size, mesh.product(spec.dims[i]));
  return count;
}

Bytes local_bytes(const Tensor& tensor, const PartitionSpec& spec, const Mesh& mesh) {
  return Bytes{local_elements(tensor.dims, spec, mesh) * size_of(tensor.dtype)};
}

}  // namespace shardplan
