#include <fmt/format.h>

#include <models/programs/edges.hpp>
#include <models/programs/layers/multi_token_prediction.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

/// The model's table, norm and head, which other blocks hold.
Block sharing_parameters(Block block, const char* name, std::int64_t runs) {
  block.name = name;
  block.layers = runs;
  block.executions *= runs;
  for (Tensor& tensor : block.tensors) tensor.shared = tensor.parameter;
  return block;
}

/// W · [norm(embedding); norm(hidden)]
TensorId add_joint_projection(BlockBuilder& b) {
  const Dims tokens = b.hidden_dims();
  const TensorId later = b.activation("later token embedding", tokens,
                                      {{"activation_batch", "activation_length", "activation_embed"}});
  const TensorId embedding = b.norm("mtp/embedding_norm", later, {});
  const TensorId hidden = b.norm("mtp/hidden_state_norm", b.block.input, {});
  const TensorDim both{Dim::mlp, 2 * b.model.emb};
  const TensorId joined = b.apply(OpKind::add, "mtp/concatenate", {embedding, hidden},
                                  b.activation("joined features", {tokens[0], tokens[1], both}));
  const TensorId w = b.weight("mtp/projection", {both, tokens[2]}, {"embed", ""});
  return b.apply(OpKind::einsum, "mtp/projection", {joined, w}, b.activation("projected features", tokens));
}

Block mtp_layer(const LayerKind& kind, const std::string& name, bool first, const Model& model, const TrainConfig& config,
                const ProgramSizes& sizes) {
  BlockBuilder b(name, BlockKind::layer, model, config, sizes);
  b.block.input = b.block.output = b.activation("layer input", b.hidden_dims(), b.hidden());
  if (first) b.block.output = add_joint_projection(b);
  add_branches(b, kind);
  b.block.single_run = SingleRun::later_tokens;
  b.block.layers = b.block.executions = model.mtp_num_layers;
  return std::move(b.block);
}

/// One for each layer of the scan's iteration, from its first on.
std::vector<LayerKind> last_cycle(const std::vector<LayerKind>& decoder) {
  std::size_t first = decoder.size() - 1;
  while (first > 0 && decoder[first].continues_cycle) --first;
  std::vector<LayerKind> layers;
  for (std::size_t i = first; i < decoder.size(); ++i) layers.insert(layers.end(), decoder[i].per_cycle, decoder[i]);
  return layers;
}

std::vector<LayerKind> predicting_layers(const std::vector<LayerKind>& decoder, const DecoderBlock& block) {
  switch (block.predicting) {
    case PredictingLayer::last:
      return {decoder.back()};
    case PredictingLayer::local:
      return {decoder.front()};
    case PredictingLayer::cycle:
    case PredictingLayer::scanned_cycle:
      return last_cycle(decoder);
    case PredictingLayer::not_modelled:
    case PredictingLayer::stops:
    case PredictingLayer::excluded:
      break;
  }
  throw InternalError(fmt::format("decoder block '{}' has no multi-token prediction", block.name));
}

}  // namespace

std::vector<Block> multi_token_prediction_blocks(const std::vector<LayerKind>& decoder, const Model& model,
                                                 const TrainConfig& config, const ProgramSizes& sizes) {
  const std::int64_t runs = model.mtp_num_layers;
  if (runs == 0) return {};
  std::vector<Block> blocks = {sharing_parameters(embedding_block(model, config, sizes), "mtp_embedding", runs)};
  const std::vector<LayerKind> layers = predicting_layers(decoder, model.decoder_block);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string name = layers.size() == 1 ? "mtp_layers" : fmt::format("mtp_layers_{}", i);
    blocks.push_back(mtp_layer(layers[i], name, i == 0, model, config, sizes));
  }
  blocks.push_back(sharing_parameters(loss_block(model, config, sizes), "mtp_head", runs));
  return blocks;
}

}  // namespace shardplan
