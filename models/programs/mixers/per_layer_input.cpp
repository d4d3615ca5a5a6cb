// Each layer's own input of a token (MaxText models/gemma4_small.py): a slice of what the per-layer table and a projection
// of the embedding give for all layers at once (edges.cpp), gated by the hidden state and projected back to its width.
#include <models/programs/mixers/mixers.hpp>

namespace shardplan {

TensorId add_per_layer_input(BlockBuilder& b, TensorId x) {
  const Dims tokens = b.dims(x);
  const TensorDim width{Dim::mlp, b.model.per_layer_dim};
  const Dims narrow{tokens[0], tokens[1], width};
  const TensorId gate_weight = b.weight("per_layer_input_gate", {tokens[2], width}, {"embed", "mlp"});
  const TensorId gate =
      b.apply(OpKind::einsum, "per_layer_input_gate", {x, gate_weight}, b.activation("per-layer gate", narrow));
  const TensorId input =
      b.side_input("per-layer input", narrow, {{"activation_batch", "activation_norm_length", ""}});
  const TensorId gated = b.apply(OpKind::elementwise, "per_layer_input_gate/activation", {gate, input},
                                 b.activation("gated per-layer input", narrow));
  const TensorId back = b.weight("per_layer_projection", {width, tokens[2]}, {"mlp", "embed"});
  return b.apply(OpKind::einsum, "per_layer_projection", {gated, back},
                 b.activation("per-layer output", b.hidden_dims(), b.hidden()));
}

}  // namespace shardplan
