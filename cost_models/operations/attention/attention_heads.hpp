#pragma once
// Heads of attention's operands. Private to this room.
#include <algorithm>
#include <cost_models/operations/operation_kind.hpp>

namespace shardplan {

/// The dim of a tensor's heads, of queries or of keys; -1: none.
inline int heads_dim(const Tensor& tensor) {
  return std::max(index_of(tensor.dims, Dim::q_heads), index_of(tensor.dims, Dim::kv_heads));
}

/// Several query heads read one head of keys.
inline bool groups_queries(const BlockState& state, const Operation& op) {
  const auto heads = [&](TensorId id) {
    const Tensor& tensor = state.tensor(id);
    const int dim = heads_dim(tensor);
    return dim < 0 ? 1 : tensor.dims[dim].size;
  };
  return heads(op.inputs[0]) > heads(op.inputs[1]);
}

}  // namespace shardplan
