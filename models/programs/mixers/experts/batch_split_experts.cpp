#include <algorithm>
#include <models/programs/mixers/experts/batch_split_experts.hpp>
#include <models/programs/mixers/experts/expert_weights.hpp>
#include <models/programs/mixers/feed_forward.hpp>
#include <models/programs/mixers/experts/mixture_of_experts.hpp>
#include <shardplan/rounding.hpp>

namespace shardplan {
namespace {

/// Of the rows that wait for the backward pass, over those of balanced routing (`capacity_factor` of batch_split_schedule).
constexpr std::int64_t kept_shares = 2;

Constraint tokens_constraint() { return {{"activation_batch", "activation_norm_length", ""}}; }

TensorDim mlp_of(const BlockBuilder& b) { return {Dim::mlp, b.model.moe_mlp}; }

/// Every device sorts the rows of its whole expert group's tokens.
TensorDim rows_of(const BlockBuilder& b, TensorId tokens) {
  const Dims dims = b.dims(tokens);
  const std::int64_t routed = dims[0].size * dims[1].size * b.model.top_k * b.sizes.expert_group;
  return {Dim::rows, divided_up(routed, b.model.num_experts)};
}

/// The rows that a device keeps; it computes its products again where routing brings more, which is not expected here.
TensorId add_kept_rows(BlockBuilder& b, TensorId all, const std::string& name) {
  const Dims dims = b.dims(all);
  const std::int64_t kept = std::min(dims[1].size, kept_shares * dims[1].size / b.sizes.expert_group);
  const TensorId slice = b.apply(OpKind::add, "MoeBlock_0/" + name + "/keep", {all},
                                 b.activation("kept " + name + " output", {dims[0], {Dim::rows, kept}, dims[2]}, {},
                                              {"moe_mlp" + name}));
  return b.apply(OpKind::add, "MoeBlock_0/" + name + "/pad", {slice}, b.activation("padded " + name + " output", dims));
}

TensorId add_projection(BlockBuilder& b, TensorId rows, const std::string& name) {
  const Dims dims = b.dims(rows);
  const TensorId w =
      as_shard_map_input(b, add_expert_weight(b, name, ExpertMatrix::input, dims[2]), name, ExpertMatrix::input);
  const TensorId out = b.apply(OpKind::einsum, "MoeBlock_0/" + name, {rows, w},
                               b.activation("expert " + name + " output", {dims[0], dims[1], mlp_of(b)}));
  b.block.operations.back().role = OperationRole::expert_projection;
  return add_kept_rows(b, out, name);
}

}  // namespace

RoutedHalf add_batch_split_router(BlockBuilder& b, TensorId x) {
  RoutedHalf half{x};
  b.module = Module::shared_experts;
  half.shared = add_feed_forward(b, x, "shared_experts", b.model.shared_experts * b.model.moe_mlp);
  b.module = Module::mixture;
  b.block.mixture = true;
  b.block.experts_per_token = b.model.top_k;
  b.block.row_occupancy = 1.0 / static_cast<double>(b.sizes.expert_group);
  const TensorId logits = add_router(b, {x, x}, tokens_constraint());
  const Dims tokens = b.dims(x);
  const Dims picked = {tokens[0], tokens[1], {Dim::top_k, b.model.top_k}};
  half.weights = b.apply(OpKind::elementwise, "MoeBlock_0/top_k", {logits},
                         b.activation("routing weights", picked, tokens_constraint()));
  half.ids = b.apply(OpKind::elementwise, "MoeBlock_0/selected_experts", {logits},
                     b.constant("expert ids", picked, DType::s32, tokens_constraint()));
  return half;
}

RoutedHalf add_batch_split_dispatch(BlockBuilder& b, RoutedHalf half) {
  b.module = Module::mixture;
  const Dims rows = {{Dim::experts, b.model.num_experts}, rows_of(b, half.tokens), b.dims(half.tokens)[2]};
  half.rows = b.apply(OpKind::ring_dispatch, "MoeBlock_0/dispatch", {half.tokens, half.weights, half.ids},
                      b.activation("routed tokens", rows));
  return half;
}

RoutedHalf add_batch_split_experts(BlockBuilder& b, RoutedHalf half) {
  b.module = Module::mixture;
  const Dims dims = b.dims(half.rows);
  const TensorId gate = add_projection(b, half.rows, "wi_0"), up = add_projection(b, half.rows, "wi_1");
  const TensorId activated = b.apply(OpKind::elementwise, "MoeBlock_0/activation", {gate, up},
                                     b.activation("expert hidden", {dims[0], dims[1], mlp_of(b)}));
  const TensorId wo =
      as_shard_map_input(b, add_expert_weight(b, "wo", ExpertMatrix::output, dims[2]), "wo", ExpertMatrix::output);
  half.rows = b.apply(OpKind::einsum, "MoeBlock_0/wo", {activated, wo}, b.activation("expert output", dims));
  b.block.operations.back().role = OperationRole::expert_output;
  return half;
}

TensorId add_batch_split_return(BlockBuilder& b, const RoutedHalf& half) {
  b.module = Module::mixture;
  const TensorId routed = b.apply(OpKind::ring_return, "MoeBlock_0/return", {half.rows, half.ids},
                                  b.activation("moe output", b.hidden_dims(), b.hidden()));
  return b.apply(OpKind::add, "shared_experts/add", {routed, half.shared},
                 b.activation("mixture output", b.hidden_dims(), b.hidden()));
}

}  // namespace shardplan
