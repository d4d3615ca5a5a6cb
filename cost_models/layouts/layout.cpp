#include <cost_models/layouts/layout.hpp>

namespace shardplan {

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

Bytes local_bytes(const Tensor& tensor, const PartitionSpec& spec, const Mesh& mesh) {
  return Bytes{local_elements(tensor.dims, spec, mesh) * size_of(tensor.dtype)};
}

}  // namespace shardplan
