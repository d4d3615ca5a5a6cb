#pragma once
// What the kinds of softmax attention share: projections onto heads, the kernel with its constraints, the way back.
#include <models/programs/block_builder.hpp>

namespace shardplan {

struct Heads {
  TensorId query, key, value;
  TensorId mask = -1;  ///< which keys each query attends to; -1: all before it
};

/// Marks the last operation: it makes queries, keys or values, which compilers merge where they come from one operand.
TensorId as_projection(BlockBuilder& b, TensorId head);

/// Of queries, keys and values in heads.
Constraint head_constraint();

/// What queries, keys and values are projected from.
TensorId constrain_attention_input(BlockBuilder& b, TensorId x, Constraint constraint);

/// x·w with w [x's last dim, heads, head_dim].
TensorId project_onto_heads(BlockBuilder& b, TensorId x, const std::string& name, TensorDim heads, TensorDim head_dim,
                            LogicalAxes weight_axes, Constraint constraint, std::vector<std::string> checkpoint_names);

/// A learned logit a head that takes part in every softmax (gpt-oss): as much traffic as a bias of the queries.
TensorId add_sink(BlockBuilder& b, TensorId query);

/// What remat policies know the kernel's result by. MaxText names it inside of its kernels (layers/attention_op.py:
/// residual_checkpoint_name, cudnn_flash_jax); attention=dot_product has none, so that no policy saves it.
std::vector<std::string> context_names(const TrainConfig& config);

/// softmax(q·kT)·v. Queries keep their split of the sequence, keys and values are whole along it.
TensorId add_attention_kernel(BlockBuilder& b, const Heads& heads, Dims context_dims, AttentionWindow window,
                              bool rotates = true);

/// Back to the hidden state's width, or to another.
TensorId add_output_projection(BlockBuilder& b, TensorId context);
TensorId add_output_projection(BlockBuilder& b, TensorId context, TensorDim width);

}  // namespace shardplan
