#pragma once
// Writes a block down operation by operation. The layer programs read as MaxText's layers do: each line is a weight, an
// einsum or a constraint with its logical axes.
#include <shardplan/model.hpp>
#include <shardplan/program.hpp>

namespace shardplan {

using Dims = std::vector<TensorDim>;

/// Sizes that the programs of one train step share.
struct ProgramSizes {
  std::int64_t batch = 0;  ///< sequences in one run of the block (a microbatch in a pipeline)
  std::int64_t sequence = 0;
  std::int64_t expert_group = 1;  ///< devices among which the experts are split
};

class BlockBuilder {
 public:
  BlockBuilder(std::string name, BlockKind kind, const Model& model, const TrainConfig& config,
               const ProgramSizes& sizes);

  TensorId weight(std::string name, Dims dims, LogicalAxes axes);
  TensorId activation(std::string name, Dims dims, Constraint constraint = {},
                      std::vector<std::string> checkpoint_names = {});
  /// A tensor that no gradient flows to: token ids, masks.
  TensorId constant(std::string name, Dims dims, DType dtype, Constraint constraint);

  /// Adds an operation; returns its output.
  TensorId apply(OpKind kind, std::string name, std::vector<TensorId> inputs, TensorId output);
  /// The same tensor under another constraint.
  TensorId constrain(std::string name, TensorId tensor, Constraint constraint);
  /// Root-mean-square norm over the last dim, with a scale of that dim.
  TensorId norm(const std::string& name, TensorId x, Constraint constraint,
                std::vector<std::string> checkpoint_names = {});

  /// [batch, sequence, embed] as every decoder layer constrains it.
  Constraint hidden() const { return {{"activation_batch", "activation_norm_length", "activation_embed"}}; }
  Dims hidden_dims() const;
  const Dims& dims(TensorId tensor) const { return block.tensors[tensor].dims; }

  Module module = Module::none;  ///< of the operations that are added from here on
  const Model& model;
  const TrainConfig& config;
  const ProgramSizes& sizes;
  Block block;
};

// The parts of a decoder layer; each takes the normed input [batch, sequence, embed] and returns its output, which the
// caller adds to the residual.
TensorId add_gqa(BlockBuilder& b, TensorId x, std::int64_t window);
TensorId add_mla(BlockBuilder& b, TensorId x);
/// `prefix` "mlp" or "shared_experts"; `width` is the hidden dim.
TensorId add_mlp(BlockBuilder& b, TensorId x, const std::string& prefix, std::int64_t width);
TensorId add_moe_dropping(BlockBuilder& b, TensorId x);
TensorId add_moe_sparse(BlockBuilder& b, TensorId x);

/// The router: logits [batch, sequence, experts] under `constraint`.
TensorId add_router(BlockBuilder& b, TensorId x, Constraint constraint);

}  // namespace shardplan
