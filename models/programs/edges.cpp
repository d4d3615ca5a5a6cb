#include <models/programs/edges.hpp>
#include <models/programs/layers/hyper_connection.hpp>

namespace shardplan {
namespace {

/// The batch of embedding and head is also split over pipeline stages (rule activation_embed_and_logits_batch).
Constraint edge_hidden() {
  return {{"activation_embed_and_logits_batch", "activation_norm_length", "activation_embed"}};
}

/// The same of streams of it.
Constraint edge_carried(const Model& model) {
  Constraint constraint = edge_hidden();
  if (model.mhc_expansion_rate > 1) constraint.axes.insert(constraint.axes.end() - 1, "");
  return constraint;
}

}  // namespace

Block embedding_block(const Model& model, const TrainConfig& config, const ProgramSizes& sizes) {
  BlockBuilder b("embedding", BlockKind::embedding, model, config, sizes);
  const TensorDim batch{Dim::batch, sizes.batch}, sequence{Dim::sequence, sizes.sequence};
  const TensorDim vocab{Dim::vocab, model.vocab}, embed{Dim::embed, model.emb};
  const TensorId ids = b.constant("token ids", {batch, sequence}, DType::s32,
                                  {{"activation_embed_and_logits_batch", "activation_norm_length"}});
  const TensorId table = b.weight("token_embedder/embedding", {vocab, embed}, {"vocab", "embed_vocab"});
  TensorId x = b.activation("embedded tokens", b.hidden_dims(), edge_hidden());
  if (config.use_iota_embed) {  // one-hot product instead of a lookup: the table is gathered, its gradient scattered
    const TensorId one_hot = b.constant("one-hot ids", {batch, sequence, vocab}, config.dtype,
                                        {{"activation_embed_and_logits_batch", "activation_norm_length", ""}});
    b.apply(OpKind::add, "token_embedder/iota", {ids}, one_hot);
    b.apply(OpKind::einsum, "token_embedder", {one_hot, table}, x);
  } else {
    b.apply(OpKind::lookup, "token_embedder", {table, ids}, x);
  }
  if (model.trainable_position_size > 0) {
    const TensorId positions =
        b.weight("position_embedder/embedding", {{Dim::position, model.trainable_position_size}, embed},
                 {"vocab", "embed_vocab"});
    x = b.apply(OpKind::add, "position_embedder", {x, positions},
                b.activation("embedded positions", b.hidden_dims(), edge_hidden()));
  }
  b.block.input = ids;
  b.block.output = model.mhc_expansion_rate > 1 ? spread_streams(b, x, edge_carried(model)) : x;
  return std::move(b.block);
}

// MaxText models/gemma4_small.py, Gemma4SmallPLE. The norm is of each layer's slice.
Block per_layer_embedding_block(const Model& model, const TrainConfig& config, const ProgramSizes& sizes) {
  BlockBuilder b("per_layer_embedding", BlockKind::embedding, model, config, sizes);
  const TensorId hidden = b.activation("embedded tokens", b.hidden_dims(), edge_hidden());
  const TensorDim batch = b.dims(hidden)[0], sequence = b.dims(hidden)[1], embed = b.dims(hidden)[2];
  const TensorDim width{Dim::mlp, model.layers * model.per_layer_dim};
  const Constraint tokens{{"activation_embed_and_logits_batch", "activation_norm_length", ""}};
  const TensorId ids = b.constant("token ids", {batch, sequence}, DType::s32,
                                  {{"activation_embed_and_logits_batch", "activation_norm_length"}});
  const TensorId table = b.weight("per_layer_embedder/embed_tokens_per_layer",
                                  {{Dim::vocab, model.per_layer_vocab}, width}, {"vocab", "embed_vocab"});
  const TensorId rows = b.apply(OpKind::lookup, "per_layer_embedder", {table, ids},
                                b.activation("per-layer rows", {batch, sequence, width}, tokens));
  const TensorId w =
      b.weight("per_layer_embedder/per_layer_model_projection", {embed, width}, {"embed", "mlp"});
  const TensorId context = b.apply(OpKind::einsum, "per_layer_embedder/per_layer_model_projection", {hidden, w},
                                   b.activation("per-layer context", {batch, sequence, width}));
  const TensorId scale = b.weight("per_layer_embedder/per_layer_projection_norm/scale",
                                  {{Dim::position, model.per_layer_dim}}, {"norm"});
  const TensorId normed = b.apply(OpKind::elementwise, "per_layer_embedder/per_layer_projection_norm", {context, scale},
                                  b.activation("normed per-layer context", {batch, sequence, width}));
  b.block.input = hidden;
  b.block.side_inputs = {ids};
  b.block.output = b.apply(OpKind::add, "per_layer_embedder/add", {rows, normed},
                           b.activation("per-layer inputs", {batch, sequence, width}, tokens));
  return std::move(b.block);
}

namespace {

/// Final norm and product with the head's kernel, or with the embedding table of a tied model.
TensorId add_logits(BlockBuilder& b) {
  const Model& model = b.model;
  const TensorDim vocab{Dim::vocab, model.vocab}, embed{Dim::embed, model.emb};
  b.block.input = b.activation("decoder output", b.carried_dims(), edge_carried(model));
  const TensorId x = model.mhc_expansion_rate > 1 ? merge_streams(b, b.block.input, edge_hidden()) : b.block.input;
  const TensorId normed = b.hidden_norm("decoder_norm", x, edge_hidden());
  const TensorId kernel = model.tied_embedding
                              ? b.weight("token_embedder/embedding", {vocab, embed}, {"vocab", "embed_vocab"})
                              : b.weight("logits_dense", {embed, vocab}, {"embed_vocab", "vocab"});
  b.block.tensors[kernel].shared = b.block.reads_table = model.tied_embedding;
  const Dims tokens = b.dims(x);
  const TensorId logits = b.activation("logits", {tokens[0], tokens[1], vocab});
  if (b.config.logits_dot_in_fp32) b.block.tensors[kernel].dtype = b.block.tensors[logits].dtype = DType::f32;
  b.apply(OpKind::einsum, "logits_dense", {normed, kernel}, logits);
  b.block.operations.back().scales_result = model.tied_embedding && model.scales_logits;
  return logits;
}

/// final_logits_soft_cap: what the loss reads.
TensorId add_soft_cap(BlockBuilder& b, TensorId logits) {
  if (!b.model.caps_logits) return logits;
  return b.apply(OpKind::elementwise, "logits_soft_cap", {logits}, b.activation("capped logits", Dims(b.dims(logits))));
}

}  // namespace

Block loss_block(const Model& model, const TrainConfig& config, const ProgramSizes& sizes) {
  // Vocabulary tiling runs head and loss on one tile of the tokens at a time, and again in the backward pass.
  ProgramSizes tile = sizes;
  tile.sequence = sizes.sequence / config.num_vocab_tiling;
  BlockBuilder b("head", BlockKind::head, model, config, tile);
  b.block.executions = config.num_vocab_tiling;
  b.block.rematerialized = config.num_vocab_tiling > 1;
  const TensorId logits = add_soft_cap(b, add_logits(b));
  const Dims tokens = b.dims(b.block.input);
  b.block.output =
      b.apply(OpKind::cross_entropy, "loss", {logits}, b.activation("token losses", {tokens[0], tokens[1]}));
  return std::move(b.block);
}

Block logits_block(const Model& model, const TrainConfig& config, const ProgramSizes& sizes) {
  BlockBuilder b("head", BlockKind::head, model, config, sizes);
  b.block.output = add_logits(b);
  return std::move(b.block);
}

}  // namespace shardplan
