// Dense MLP (also the shared experts). wi_0, wi_1 and wo; a single wi where the activation isn't gated (gpt3).
#include <models/programs/block_builder.hpp>

namespace shardplan {

TensorId add_mlp(BlockBuilder& b, TensorId x, const std::string& prefix, std::int64_t width) {
  const TensorDim mlp{Dim::mlp, width}, embed{Dim::embed, b.model.emb};
  const Dims& tokens = b.dims(x);
  const Dims hidden_dims{tokens[0], tokens[1], mlp};
  const Constraint split{{"activation_batch", "activation_length", "activation_mlp"}};
  const bool gated = b.model.mlp_activations.size() > 1;

  std::vector<TensorId> projections;
  for (std::size_t i = 0; i < b.model.mlp_activations.size(); ++i) {
    const std::string suffix = gated ? "_" + std::to_string(i) : "";
    const std::string name = prefix + "/wi" + suffix;
    const TensorId w = b.weight(name, {embed, mlp}, {"embed", "mlp"});
    const TensorId out = b.activation(name + " output", hidden_dims, split, {"mlpwi" + suffix});
    projections.push_back(b.apply(OpKind::einsum, name, {x, w}, out));
  }
  if (b.model.mlp_bias && b.module == Module::mlp) {
    projections.push_back(b.weight(prefix + "/wi/bias", {mlp}, {"mlp"}));
    b.block.tensors[projections.back()].role = TensorRole::bias;
  }
  const TensorId activated = b.apply(OpKind::elementwise, prefix + "/activation", projections,
                                     b.activation(prefix + " hidden", hidden_dims, split));
  const TensorId wo = b.weight(prefix + "/wo", {mlp, embed}, {"mlp", "embed"});
  return b.apply(OpKind::einsum, prefix + "/wo", {activated, wo},
                 b.activation(prefix + " output", b.hidden_dims(), b.hidden(), {"mlpwo"}));
}

}  // namespace shardplan
