// One branch of a whole layer (MaxText models/qwen3_custom.py): attention's output projection is narrower than the hidden
// state, experts work at that width, and one projection leads back.
#include <models/programs/mixers/mixers.hpp>
#include <models/programs/mixers/experts/mixture_of_experts.hpp>

namespace shardplan {

TensorId add_attention_into_experts(BlockBuilder& b, TensorId x, const AttentionHeads& shape) {
  const TensorId latent = add_grouped_query_attention(b, x, shape);
  b.module = Module::mixture;
  const TensorId normed = b.hidden_norm("latent_norm", latent, b.hidden());
  const TensorId routed = add_routed_experts(b, {normed, normed});
  const Dims tokens = b.dims(routed);
  const TensorDim embed{Dim::embed, b.model.emb};
  if (tokens[2] == embed) return routed;
  const TensorId w = b.weight("layer_up_projection", {tokens[2], embed}, {"mlp", "embed"});
  return b.apply(OpKind::einsum, "layer_up_projection", {routed, w},
                 b.activation("layer_up_projection output", b.hidden_dims(), b.hidden()));
}

}  // namespace shardplan
