#include <models/programs/edges.hpp>
#include <models/programs/layers/multi_token_prediction.hpp>

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

Block mtp_layer(const LayerKind& kind, const Model& model, const TrainConfig& config, const ProgramSizes& sizes) {
  BlockBuilder b("mtp_layers", BlockKind::layer, model, config, sizes);
  b.block.input = b.activation("layer input", b.hidden_dims(), b.hidden());
  b.block.output = add_joint_projection(b);
  add_branches(b, kind);
  b.block.single_run = SingleRun::later_tokens;
  b.block.layers = b.block.executions = model.mtp_num_layers;
  return std::move(b.block);
}

}  // namespace

std::vector<Block> multi_token_prediction_blocks(const LayerKind& kind, const Model& model, const TrainConfig& config,
                                                 const ProgramSizes& sizes) {
  const std::int64_t runs = model.mtp_num_layers;
  if (runs == 0) return {};
  return {sharing_parameters(embedding_block(model, config, sizes), "mtp_embedding", runs),
          mtp_layer(kind, model, config, sizes),
          sharing_parameters(loss_block(model, config, sizes), "mtp_head", runs)};
}

}  // namespace shardplan
