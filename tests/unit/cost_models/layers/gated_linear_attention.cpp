#include "gated_linear_attention.hpp"

#include <models/programs/mixers/attention_parts.hpp>

namespace shardplan {
namespace {

TensorId project(BlockBuilder& b, TensorId x, const std::string& name, Dim last) {
  const TensorDim heads{Dim::q_heads, b.model.q_heads};
  return project_onto_heads(b, x, name, heads, {last, b.model.head_dim}, {"embed", "q_heads", "kv"},
                            {{"activation_kv_batch", "activation_length", "activation_kv_heads", ""}}, {});
}

}  // namespace

TensorId add_gated_linear_attention(BlockBuilder& b, TensorId x) {
  b.module = Module::attention;
  const TensorId query = project(b, x, "query", Dim::head_dim), key = project(b, x, "key", Dim::head_dim);
  const TensorId value = project(b, x, "value", Dim::value_dim), gate = project(b, x, "gate", Dim::value_dim);
  const Dims q = b.dims(query), v = b.dims(value);
  const TensorId state = b.apply(OpKind::einsum, "self_attention/state", {key, value},
                                 b.activation("state", {q[0], q[2], q[3], v[3]},
                                              {{"activation_kv_batch", "activation_kv_heads", "", ""}}));
  const TensorId context =
      b.apply(OpKind::einsum, "self_attention/read", {query, state}, b.activation("context", v));
  const TensorId gated =
      b.apply(OpKind::elementwise, "self_attention/gate", {context, gate}, b.activation("gated context", v));
  return add_output_projection(b, gated);
}

}  // namespace shardplan
