#pragma once
// Writes a block down operation by operation. The layer programs read as MaxText's layers do: each line is a weight, an
// einsum or a constraint with its logical axes.
#include <shardplan/model.hpp>
#include <shardplan/program.hpp>

namespace shardplan {

/// Sizes that the programs of one train step share.
struct ProgramSizes {
  std::int64_t batch = 0;  ///< sequences in one run of the block (a microbatch in a pipeline)
  std::int64_t sequence = 0;
  std::int64_t expert_group = 1;  ///< devices among which the experts are split
  bool two_fsdp_axes = false;     ///< the mesh has fsdp and fsdp_transpose
};

class BlockBuilder {
 public:
  BlockBuilder(std::string name, BlockKind kind, const Model& model, const TrainConfig& config,
               const ProgramSizes& sizes);

  /// One of this name that the block has already is the same: half batches read one weight.
  TensorId weight(std::string name, Dims dims, LogicalAxes axes);
  /// A weight that is added.
  TensorId bias(std::string name, Dims dims, LogicalAxes axes);
  /// A table that the step reads and never updates, whole on every device.
  void untrained_table(std::string name, Dims dims, DType dtype);
  TensorId activation(std::string name, Dims dims, Constraint constraint = {},
                      std::vector<std::string> checkpoint_names = {});
  /// Another block's value, read beside the block's input.
  TensorId side_input(std::string name, Dims dims, Constraint constraint);
  /// A tensor that no gradient flows to: token ids, masks.
  TensorId constant(std::string name, Dims dims, DType dtype, Constraint constraint);

  /// Adds an operation; returns its output.
  TensorId apply(OpKind kind, std::string name, TensorIds inputs, TensorId output);
  /// The same tensor under another constraint.
  TensorId constrain(std::string name, TensorId tensor, Constraint constraint);
  /// Root-mean-square norm over the last dim, with a scale of that dim.
  TensorId norm(const std::string& name, TensorId x, Constraint constraint,
                std::vector<std::string> checkpoint_names = {});
  /// The same over the last `scaled_dims` dims.
  TensorId norm_over(std::size_t scaled_dims, const std::string& name, TensorId x, Constraint constraint,
                     std::vector<std::string> checkpoint_names = {});
  /// The norm of the hidden state that the model has; LayerNorm's bias goes beside the scale.
  TensorId hidden_norm(const std::string& name, TensorId x, Constraint constraint);
  /// x plus a bias of its last dims, one for each logical axis, under x's constraint and checkpoint names.
  TensorId add_bias(TensorId x, const std::string& name, LogicalAxes axes);
  /// The same with a bias of any of its dims.
  TensorId add_bias_over(Dims bias_dims, TensorId x, const std::string& name, LogicalAxes axes);

  /// [batch, sequence, embed] as every decoder layer constrains it.
  Constraint hidden() const { return {{"activation_batch", "activation_norm_length", "activation_embed"}}; }
  Dims hidden_dims() const;
  /// What layers hand on: that, or `mhc_expansion_rate` streams of it, [batch, sequence, streams, embed]. MaxText names
  /// three axes, so that the embed dim's falls on the streams.
  Constraint carried() const;
  Dims carried_dims() const;
  const Dims& dims(TensorId tensor) const { return block.tensors[tensor].dims; }

  Module module = Module::none;  ///< of the operations that are added from here on
  /// MaxText hands these operations' layers its quantization. Qwix asks for none: its rules name products.
  bool gives_quantization = true;
  const Model& model;
  const TrainConfig& config;
  const ProgramSizes& sizes;
  Block block;
};

}  // namespace shardplan
