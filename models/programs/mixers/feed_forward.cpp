// Dense feed-forward. wi_0, wi_1 and wo; a single wi where the activation isn't gated (gpt3) or under fused_mlp.
#include <models/programs/mixers/feed_forward.hpp>
#include <models/programs/mixers/mixers.hpp>

namespace shardplan {
namespace {

/// dense_fsdp_use_two_stage_all_gather: one gather over fsdp_transpose, then one over fsdp, with a barrier between
/// (MaxText layers/linears.py, _maybe_two_stage_all_gather).
TensorId in_two_stages(BlockBuilder& b, TensorId weight, const std::string& name, const LogicalAxes& axes) {
  if (!b.config.dense_fsdp_use_two_stage_all_gather || !b.sizes.two_fsdp_axes) return weight;
  const TensorId half = b.constrain(name + " over fsdp", weight, {axes, Peel::fsdp_transpose});
  return b.constrain(name + " gathered", half, {axes, Peel::both_fsdp});
}

TensorId matrix(BlockBuilder& b, const std::string& name, Dims dims, const LogicalAxes& axes) {
  return in_two_stages(b, b.weight(name, std::move(dims), axes), name, axes);
}

/// wi, or wi_0 and wi_1; each with its bias, which the activation adds.
TensorIds add_inner_projections(BlockBuilder& b, TensorId x, const std::string& prefix, TensorDim mlp,
                                            const Constraint& split) {
  const bool gated = b.model.mlp_activations.size() > 1;
  const Dims tokens = b.dims(x);
  TensorIds all;
  for (std::size_t i = 0; i < b.model.mlp_activations.size(); ++i) {
    const std::string suffix = gated ? "_" + std::to_string(i) : "";
    const std::string name = prefix + "/wi" + suffix;
    const TensorId w = matrix(b, name, {tokens[2], mlp}, {"embed", "mlp"});
    const TensorId out = b.activation(name + " output", {tokens[0], tokens[1], mlp}, split, {"mlpwi" + suffix});
    all.push_back(b.apply(OpKind::einsum, name, {x, w}, out));
    if (b.model.mlp_bias) all.push_back(b.bias(name + "/bias", {mlp}, {"mlp"}));
  }
  return all;
}

/// fused_mlp (layers/linears.py, MlpBlock): one wi of [embed, parts, mlp]. MaxText's rules know no num_activations, so
/// that nothing splits the parts; checkpoints keep both as mlpwi.
TensorIds add_joint_projection(BlockBuilder& b, TensorId x, const std::string& prefix, TensorDim mlp) {
  const Dims tokens = b.dims(x);
  const TensorDim parts{Dim::mlp_parts, static_cast<std::int64_t>(b.model.mlp_activations.size())};
  const std::string name = prefix + "/wi";
  const TensorId w = matrix(b, name, {tokens[2], parts, mlp}, {"embed", "num_activations", "mlp"});
  const TensorId joint = b.activation(name + " output", {tokens[0], tokens[1], parts, mlp},
                                      {{"activation_batch", "activation_length", "", "activation_mlp"}}, {"mlpwi"});
  TensorIds all = {b.apply(OpKind::einsum, name, {x, w}, joint)};
  if (b.model.mlp_bias) all.push_back(b.bias(name + "/bias", {parts, mlp}, {"num_activations", "mlp"}));
  return all;
}

}  // namespace

TensorId add_feed_forward(BlockBuilder& b, TensorId x, const std::string& prefix, std::int64_t width) {
  const TensorDim mlp{Dim::mlp, width}, embed{Dim::embed, b.model.emb};
  const Constraint split{{"activation_batch", "activation_length", "activation_mlp"}};
  const TensorIds projections = b.model.fused_mlp ? add_joint_projection(b, x, prefix, mlp)
                                                  : add_inner_projections(b, x, prefix, mlp, split);
  const Dims tokens = b.dims(x);
  const TensorId activated = b.apply(OpKind::elementwise, prefix + "/activation", projections,
                                     b.activation(prefix + " hidden", {tokens[0], tokens[1], mlp}, split));
  b.block.operations.back().by_tanh = b.model.mlp_activations.front() == "gelu";
  const TensorId wo = matrix(b, prefix + "/wo", {mlp, embed}, {"mlp", "embed"});
  const TensorId out = b.apply(OpKind::einsum, prefix + "/wo", {activated, wo},
                               b.activation(prefix + " output", b.hidden_dims(), b.hidden(), {"mlpwo"}));
  return b.model.mlp_bias ? b.add_bias(out, prefix + "/wo/bias", {"embed"}) : out;
}

TensorId add_dense_feed_forward(BlockBuilder& b, TensorId x) {
  b.module = Module::mlp;
  return add_feed_forward(b, x, "mlp", b.model.mlp);
}

TensorId add_double_wide_feed_forward(BlockBuilder& b, TensorId x) {
  b.module = Module::mlp;
  return add_feed_forward(b, x, "mlp", 2 * b.model.mlp);
}

}  // namespace shardplan
