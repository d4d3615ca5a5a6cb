#pragma once
// Why a collective exists. The ids are published (docs/causes.md, JSON key `cause`): add, never rename.
#include <cstdint>
#include <span>
#include <string_view>

namespace shardplan {

enum class Cause : std::uint8_t {
  // any operation
  operand_layout,      ///< it reads a tensor in another layout than the tensor has
  gradient_layout,     ///< its gradient reads the gradient of its result in another layout
  feature_statistics,  ///< norm or softmax statistics over a feature dim that is split
  quantization_scale,  ///< the largest number of a channel that is split, by which it is narrowed
  // einsums
  contracted_dim_split,      ///< each device holds a partial sum of the result
  result_layout,             ///< the result is computed in one layout and constrained to another
  heads_of_weight_gradient,  ///< a projection's weight gradient leaves the input's dim for its heads (circular pipelines)
  // gradients
  weight_gradient,              ///< summed over the axes that split the weight's tokens
  weight_gradient_each_repeat,  ///< before the gradient of a repeat's gather scatters it
  activation_gradient_sum,      ///< partial sums of an activation's gradient
  activation_gradient_layout,   ///< an activation's gradient goes back to the layout of its constraint
  // attention
  attention_mask,  ///< of a kernel outside shard_map
  attention_scores,  ///< of keys that are split, or what is summed over them
  attention_ring,  ///< keys and values, or their gradients, go round the devices that share a sequence
  // embedding
  token_ids,                 ///< every device looks all ids up in its own columns of the table
  embedding_columns,         ///< looked-up columns become rows
  embedding_gradient_rows,   ///< a data shard of the table's gradient takes its rows from all tokens'
  embedding_gradient_columns,  ///< rows become columns for the table's gradient
  // experts
  scatter_indices,
  scatter_weights,
  expert_ids,
  routing_gradient,
  dispatch_mask_slices,  ///< masks are made in the slices that the combine reads
  expert_dispatch,       ///< tokens go to the devices of their experts
  expert_return,         ///< expert outputs go back to their tokens' devices
  ring_tokens,           ///< ring of experts: every expert device gets all tokens of its group
  ring_gradient,         ///< and the gradient of all their outputs
  ring_sum,              ///< each expert device has a part of every token's sum
  // pipelines
  stage_shift,      ///< to the next stage; buffers rotate
  pipeline_input,   ///< the batch becomes microbatches
  pipeline_output,  ///< microbatches become the batch of the head
  stack_to_repeats,
  stack_to_stages,
  stack_gradients,
  stack_moment_to_data,
  stack_moment_to_stages,
  // the optimizer
  zero1_permuted_shards,   ///< data comes before the axes that already split the dim
  zero1_step_weights,      ///< data shards are gathered for the step
  zero1_updated_weights,   ///< data shards of updated weights are gathered
  newton_schulz_gram,      ///< a Gram matrix is summed over the axes of the contracted dim
  newton_schulz_matrix,    ///< a matrix is gathered over the axes of the dim that it keeps
  newton_schulz_square,    ///< and its Gram matrix, to square it
  // compiled programs
  read_from_program,  ///< found in compiled text: nobody planned it
};

std::string_view name_of(Cause cause);  ///< "contracted-dim-split"
std::span<const Cause> all_causes();

}  // namespace shardplan
