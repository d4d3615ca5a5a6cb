// A dense feed-forward beside routed experts (MaxText models/gemma4.py, Gemma4MoE). Both start from the same hidden state
// and are normed apart: the feed-forward reads the layer's norm of it, experts a norm of their own, the router one without
// a scale, times a learned vector that lies as weights do.
#include <models/programs/mixers/feed_forward.hpp>
#include <models/programs/mixers/mixers.hpp>
#include <models/programs/mixers/experts/mixture_of_experts.hpp>

namespace shardplan {
namespace {

TensorId add_router_input(BlockBuilder& b, TensorId x) {
  const Dims same = b.dims(x);
  const TensorId scale = b.weight("mlp/pre_forward_scale_2", {same[2]}, {"embed"});
  return b.apply(OpKind::normalization, "mlp/gate_norm", {x, scale}, b.activation("router input", same, b.hidden()));
}

TensorId add_dense(BlockBuilder& b, TensorId x) {
  const TensorId normed = b.hidden_norm("pre_ffw_norm", x, b.hidden());
  b.module = Module::shared_experts;
  const TensorId out = add_feed_forward(b, normed, "shared_experts", b.model.shared_experts * b.model.mlp);
  return b.hidden_norm("mlp/post_feedforward_layernorm_1", out, b.hidden());
}

TensorId add_experts(BlockBuilder& b, TensorId x) {
  b.module = Module::mixture;
  const TensorId tokens = b.hidden_norm("mlp/pre_feedforward_layernorm_2", x, b.hidden());
  const TensorId router = add_router_input(b, x);
  return b.hidden_norm("mlp/post_feedforward_layernorm_2", add_routed_experts(b, {tokens, router}), b.hidden());
}

}  // namespace

TensorId add_experts_beside_dense(BlockBuilder& b, TensorId x) {
  const TensorId dense = add_dense(b, x);
  const TensorId routed = add_experts(b, x);
  return b.apply(OpKind::add, "mlp/add", {routed, dense}, b.activation("mixture output", b.hidden_dims(), b.hidden()));
}

}  // namespace shardplan
