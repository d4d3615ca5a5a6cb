#include <models/programs/layers/batch_split_layers.hpp>
#include <models/programs/mixers/experts/batch_split_experts.hpp>
#include <models/programs/mixers/mixers.hpp>
#include <shardplan/rounding.hpp>

namespace shardplan {
namespace {

/// What batch_split_schedule returns beside the layer's result: the first two and the experts' projections go to the host,
/// whatever remat_policy says; the kernel's softmax statistics stay.
const std::map<std::string, SavePlace>& kept_by_hand() {
  static const std::map<std::string, SavePlace> kept = {{"decoder_layer_input", SavePlace::host},
                                                        {"context", SavePlace::host},
                                                        {"moe_mlpwi_0", SavePlace::host},
                                                        {"moe_mlpwi_1", SavePlace::host}};
  return kept;
}

TensorId add_residual(BlockBuilder& b, const std::string& name, TensorId x, TensorId mixed) {
  b.module = Module::none;
  return b.apply(OpKind::add, name, {x, mixed}, b.activation(name, b.hidden_dims(), b.hidden()));
}

TensorId add_attention(BlockBuilder& b, TensorId x) {
  const TensorId mixed = add_latent_attention(b, b.hidden_norm("pre_self_attention_layer_norm", x, b.hidden()));
  return add_residual(b, "residual after attention", x, mixed);
}

using Halves = TensorIds;

Halves split(BlockBuilder& b, TensorId whole) {
  Halves halves;
  for (std::int64_t i = 0; i < batch_split_factor; ++i)
    halves.push_back(b.apply(OpKind::split_batch, "half batch", {whole},
                             b.activation("half batch", b.hidden_dims(), b.hidden())));
  return halves;
}

RoutedHalf add_router(BlockBuilder& b, TensorId x) {
  return add_batch_split_router(b, b.hidden_norm("post_self_attention_layer_norm", x, b.hidden()));
}

/// Each half's tokens are sent while the other half is computed: the first one's beside the second one's attention, the
/// second one's beside the first one's experts (staggered_call: a half waits for the one before it, step by step).
void take_turns(BlockBuilder& b, Halves& halves) {
  TensorId &one = halves[0], &other = halves[1];
  one = add_attention(b, one);
  RoutedHalf routed = add_router(b, one);
  other = add_attention(b, other);
  routed = add_batch_split_dispatch(b, routed);
  RoutedHalf next = add_router(b, other);
  routed = add_batch_split_experts(b, routed);
  next = add_batch_split_experts(b, add_batch_split_dispatch(b, next));
  one = add_residual(b, "layer output", one, add_batch_split_return(b, routed));
  other = add_residual(b, "layer output", other, add_batch_split_return(b, next));
}

}  // namespace

Block batch_split_block(const std::string& name, std::int64_t layers, const Model& model, const TrainConfig& config,
                        const ProgramSizes& sizes) {
  ProgramSizes half = sizes;
  half.batch = divided_up(sizes.batch, batch_split_factor);  // of an odd number, which is refused, one too many
  BlockBuilder b(name, BlockKind::layer, model, config, half);
  Dims whole = b.hidden_dims();
  whole.front().size = half.batch * batch_split_factor;
  b.block.input = b.activation("layer input", whole, b.hidden());
  Halves halves = split(b, b.block.input);
  take_turns(b, halves);
  b.block.output = b.apply(OpKind::merge_batch, "whole batch", halves, b.activation("layers' output", whole, b.hidden()));
  b.block.layers = layers;
  b.block.own_backward = kept_by_hand();
  return std::move(b.block);
}

}  // namespace shardplan
