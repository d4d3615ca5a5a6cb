#pragma once
// Where a tensor's elements are: sizes on one device, and the place of a mesh axis in a spec.
#include <initializer_list>
#include <shardplan/program.hpp>
#include <shardplan/units.hpp>

namespace shardplan {

/// Index of the dim that `axis` splits, or -1.
int place_of(AxisId axis, const PartitionSpec& spec);

/// Every axis of the spec, dims in order.
AxisList axes_of(const PartitionSpec& spec);
/// Those that split these dims of a tensor.
AxisList axes_of(const Tensor& tensor, const PartitionSpec& spec, std::initializer_list<Dim> dims);

/// Elements of one device's shard; a dim that does not divide is padded, as XLA does.
std::int64_t local_elements(const std::vector<TensorDim>& dims, const PartitionSpec& spec, const Mesh& mesh);

Bytes local_bytes(const Tensor& tensor, const PartitionSpec& spec, const Mesh& mesh);

}  // namespace shardplan
