#include <models/programs/layers/hyper_connection.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

TensorDim streams(const BlockBuilder& b) { return {Dim::streams, b.model.mhc_expansion_rate}; }

std::string module_of(HyperConnection connection) {
  switch (connection) {
    case HyperConnection::attention:
      return "mhc_attention";
    case HyperConnection::feed_forward:
      return "mhc_mlp";
    case HyperConnection::none:
      break;
  }
  throw InternalError("a branch without a hyper-connection");
}

/// Numbers of a token that weigh its streams: norm(x)·w, over all features of all streams, scaled and shifted. MaxText
/// multiplies with its three weights joined.
TensorId add_mapping(BlockBuilder& b, TensorId normed, const std::string& name, TensorDim numbers) {
  const Dims all = b.dims(normed);
  const TensorId w = b.weight(name, {all[2], all[3], numbers}, {"activation_embed", "", ""});
  return b.apply(OpKind::einsum, name, {normed, w}, b.activation(name + " output", {all[0], all[1], numbers}));
}

/// Of those numbers, some: scaled, shifted, and made weights.
TensorId add_weights(BlockBuilder& b, TensorId numbers, const std::string& name, const Dims& of_each, TensorDim shift) {
  Dims each{b.dims(numbers)[0], b.dims(numbers)[1]};
  for (const TensorDim& dim : of_each) each.push_back(dim);
  const TensorId scale = b.weight(name + "_alpha_scale", {{Dim::position, 1}}, {""});
  const TensorId beta = b.bias(name + "_beta", {shift}, {""});
  return b.apply(OpKind::elementwise, name + "_mapping", {numbers, scale, beta}, b.activation(name, std::move(each)));
}

}  // namespace

TensorId add_hyper_connection(BlockBuilder& b, TensorId x, const Branch& branch) {
  const std::string name = module_of(branch.connection);
  const TensorDim from = streams(b), to{Dim::gate, from.size};
  const Dims all = b.dims(x);
  const TensorId normed = b.norm_over(2, name + "/mhc_norm", x, {});
  const TensorId numbers =
      add_mapping(b, normed, name + "/alpha", {Dim::gate, 2 * from.size + from.size * from.size});
  const TensorId pre = add_weights(b, numbers, name + "/pre", {from}, from);
  const TensorId in = b.apply(OpKind::einsum, name + "/pre", {pre, x},
                              b.activation(name + " input", {all[0], all[1], all[3]}));
  const TensorId branch_in = b.hidden_norm(branch.norm_before, in, b.hidden());
  const TensorId mixed = branch.mix(b, branch_in);
  b.module = Module::none;
  const TensorId post = add_weights(b, numbers, name + "/post", {from}, from);
  const TensorId spread =
      b.apply(OpKind::elementwise, name + "/post", {mixed, post}, b.activation(name + " output", all));
  const TensorId residual = add_weights(b, numbers, name + "/res", {from, to}, {Dim::position, from.size * from.size});
  const TensorId kept = b.apply(OpKind::einsum, name + "/res", {residual, x},
                                b.activation(name + " residual", {all[0], all[1], to, all[3]}));
  return b.apply(OpKind::add, branch.sum, {kept, spread}, b.activation(branch.sum, all, b.carried()));
}

TensorId spread_streams(BlockBuilder& b, TensorId x, const Constraint& constraint) {
  return b.apply(OpKind::add, "mhc_expand", {x}, b.activation("streams", b.carried_dims(), constraint));
}

TensorId merge_streams(BlockBuilder& b, TensorId x, const Constraint& constraint) {
  const Dims all = b.dims(x);
  const Dims one{all[0], all[1], all[3]};
  if (!b.model.decoder_block.compressed_attention)
    return b.apply(OpKind::add, "mhc_reduce", {x}, b.activation("sum of streams", one, constraint));
  const TensorId w =
      b.weight("hc_head/hc_fn", {all[2], all[3], {Dim::gate, all[2].size}}, {"activation_embed", "", ""});
  const TensorId numbers = b.apply(OpKind::einsum, "hc_head", {x, w},
                                   b.activation("stream numbers", {all[0], all[1], {Dim::gate, all[2].size}}));
  const TensorId scale = b.weight("hc_head/hc_scale", {{Dim::position, 1}}, {""});
  const TensorId base = b.bias("hc_head/hc_base", {all[2]}, {""});
  const TensorId weights = b.apply(OpKind::elementwise, "hc_head/mapping", {numbers, scale, base},
                                   b.activation("stream weights", {all[0], all[1], all[2]}));
  return b.apply(OpKind::einsum, "hc_head/sum", {weights, x}, b.activation("sum of streams", one, constraint));
}

}  // namespace shardplan
