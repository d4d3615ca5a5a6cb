#pragma once
// What compilers do differently for the same program: a name each, which a compiler's file (compilers/*.json) has or not.
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

namespace shardplan {

/// What a compiler may do with a program; data, because it is a habit, not a law. docs/compilers.md says what each
/// means, the compiler's file on what evidence it has it.
enum class Habit : std::uint8_t {
  gathers_moe_layer_weights_twice,   ///< non-expert weights of MoE layers gathered twice in the backward pass
  gathers_activations_per_consumer,  ///< tensor-parallel activations gathered again for each consumer
  attention_outside_shard_map,       ///< attention=flash and autoselected are computed whole on every device
  copies_stacked_parameters,         ///< scanned parameters are copied to layer-major order before the loop
  /// Scanned weights that are stored in the compute dtype: those whose layers lie apart are copied before the loop.
  makes_stacks_layer_major,
  /// Stages that run once: what sorted experts' shard_map reads of weights is gathered in front of the pipeline's loops.
  holds_experts_of_stages,
  gathers_held_experts_again,        ///< and in the backward loop again, where weights aren't cast
  copies_uncast_stages,              ///< a stage's weights that aren't cast are copied into other tiles for its loops
  moves_stacks_in_compute_dtype,     ///< weights are cast before pipeline_fsdp_ag_once gathers and moves them
  defers_head_gradient,              ///< head weight gradient computed after the layers' backward pass
  ragged_dot_is_dense,               ///< ragged_dot computes every local expert for every row
  all_reduces_over_whole_slices,     ///< a gradient summed over a whole slice is all-reduced, then sliced
  gathers_whole_slices_by_all_reduce,  ///< shards of a whole slice are all-reduced among zeros, not gathered
  /// Likewise, where the two devices of a chip have the outer halves of a tensor, not neighbouring shards.
  gathers_outer_halves_by_all_reduce,
  /// A gradient split over some axes and copied over others, or split on several dims: one all-reduce over all of them.
  sums_shards_and_copies_at_once,
  sums_over_several_dims_at_once,    ///< a gradient split on several dims is all-reduced whole over all of them, then sliced
  splits_sliced_sums,                ///< a sum over shards and copies that is sliced: scattered over the shards, then summed
  gathers_dim_by_dim,                ///< one all-gather a tensor dim, not one over all axes
  narrows_float32_operands,          ///< products of float32 operands gather and exchange these in bf16
  transposes_grouped_scores,         ///< dot_product: scores of grouped queries are transposed for their gradients
  splits_keys_of_single_queries,     ///< dot_product: context splits keys, not queries, where heads of both are as many
  decomposes_ragged_exchanges,       ///< a ragged all-to-all over nodes becomes gathers and exchanges inside each

  // What every recorded compiler does: XLA's SPMD partitioner, scheduler and buffer assignment.
  /// Operands go to where the result wants an axis, unless the dim they agree on is split over every device.
  whole_mesh_operands_first,
  /// When one axis has to leave a contracted dim, the dim's other axes leave it too.
  contracts_whole_dims,
  /// Shards of a weight's dim that keeps minor axes of those that leave it are permuted before they are gathered.
  orders_shards_before_gathers,
  /// Axes of several dims that go to one are exchanged one dim after the other.
  exchanges_dim_by_dim,
  /// An activation whose axis goes to another dim is first made whole along dims that lose theirs to none.
  gathers_before_exchanges,
  /// Rows for a table's gradient are gathered over axes of tokens that don't split its columns, and summed over all at once.
  gathers_rows_over_other_axes,
  /// An operand's tokens are sliced to meet the other's, its features are not: the other is gathered.
  slices_tokens_only,
  /// The combine takes all experts' rows to where its result wants the expert axis; else it sums.
  sends_expert_rows,
  /// Masks are made in the slices that the combine reads; who reads one whole gathers it.
  slices_combine_masks,
  /// An embedding lookup that can't exchange gathers the table where that is less than its rows.
  gathers_smaller_of_table_and_rows,
  /// Looked-up rows of words that axes split come out in another order of devices, and are put in theirs.
  orders_rows_of_split_words,
  /// ZeRO-1's shards of the table's gradient take their rows from all tokens'.
  looks_through_all_rows,
  /// Where a pipeline picks its weights, gradients of projections onto heads are exchanged.
  exchanges_picked_projections,
  /// pipeline_fsdp_ag_per_repeat sums gradients once more, for the iterations that drain the pipeline.
  reduces_drained_repeat,
  /// shard_mode=explicit sums a moved layer stack's gradients in weight_dtype.
  explicit_pipelines_sum_after_cast,
  /// A scan of one layer is no loop: the recomputation is merged with the first run.
  merges_single_layer_scan,
  /// Layers that are written out between the passes of such a scan part them: all of its weights are gathered again.
  parts_single_layer_scans,
  /// Layers of one scan iteration: weights of all but the last are gathered once more.
  gathers_again_in_cycles,
  /// Layers of narrow products: weights of query, key and value are gathered once more for their gradients.
  gathers_narrow_heads_again,
  /// All-reduces of what a pipeline's iterations add up move behind the last.
  reduces_after_pipeline,
  /// pipeline_fsdp_ag_once: the stack moves between stages and repeats, as its shifted constraint says.
  moves_shifted_layer_stacks,
  /// And both moments' updates make the trip back to the stages.
  returns_moment_updates,
  /// Where no loop separates layers, the next one's weights are gathered while one runs.
  prefetches_next_layer,
  /// Layers of one scan iteration are recomputed together: the values of all but the last wait.
  recomputes_cycles_together,
  /// muon's matrices are all worked on at once, not one after the other.
  orthogonalizes_matrices_together,
  /// pipeline_fsdp_ag_per_repeat cuts its window from a second cast stack.
  casts_repeats_twice,
  /// pipeline_fsdp_ag_per_repeat collects whole gradients before they are scattered.
  collects_repeat_gradients,
  /// Masks and one-hot ids have no buffer: they are computed in the product that reads them.
  fuses_masks,
  keeps_lookup_masks,
  /// The activation function of a feed-forward without a gate is computed in the products that read it.
  fuses_activations,
  /// And hidden rows of one with a gate, where the product that reads them runs again.
  fuses_hidden_rows,
  /// And the norm in front of a dense one: products compute it from what it norms.
  computes_norms_where_read,
  /// What is added to a residual has the residual's gradient, in one buffer.
  shares_gradients_of_sums,
  /// Saved queries, keys and values are cut out of their stacks for the attention kernel.
  cuts_kernel_operands,
  /// A gelu that is computed again keeps its tanh for its gradient.
  keeps_tanh,
  /// Layers behind the scan's last whole cycle: their weight gradients, and what makes them, wait for its backward loop.
  leaves_gradients_behind_scans,
  /// Outside of loops equal gathers of a vocabulary's table are one: a head reads what was gathered before it.
  shares_gathered_tables,
  /// A tied head gathers its table again where layers that no whole cycle of the scan holds run in front of it.
  gathers_tables_again_behind_scans,
  /// Collectives become synchronous and gathers are cloned beyond a budget for temporaries.
  budgets_temporaries,
  /// All-gathers are cloned in programs close to the memory's limit.
  clones_gathers_near_limit,
  /// Loops that read what was offloaded lose their first iteration: its values stay on the device.
  peels_offloading_loops,
  /// Layers that no loop runs send what is offloaded to the host when their backward pass is about to read it again.
  sends_late_without_loops,
  /// Routed rows exist in order of arrival beside those in order of experts.
  keeps_unsorted_rows,
  /// Experts whose rows are exchanged: their weight gradients run when the rest of their backward pass has.
  runs_expert_weight_gradients_last,
  /// Experts on the dropping path, several sequences on a device: their output is computed again, and the mask's gradient
  /// made, behind the rows' gradient.
  recomputes_expert_output_last,
  /// And their all-reduced weight gradients are there together, before and after.
  sums_expert_gradients_together,
  /// Hidden rows of experts on the dropping path are made in the kernel that makes both projections' gradients.
  makes_hidden_rows_with_gradients,
  /// Or the gradient of one projection is written over the other, where both were computed again.
  overwrites_last_projection,
  /// Products are calls of a library, which fuse nothing: one kernel writes what several of them read, over nothing.
  writes_product_operands,
  /// Layers whose feed-forward is not computed again: their weight gradients run when the rest of their backward pass has.
  runs_kept_weight_gradients_last,
  /// Where several layers share an iteration, and of experts in a pipeline's stage: when that of all of them has.
  runs_cycle_weight_gradients_last,
  /// Hidden rows that a remat policy keeps are copied, tokens along the lanes, for the products of those gradients.
  turns_kept_rows,
  /// The gradient of the logits is written over them.
  overwrites_logits,
  /// Over those that are scaled as they are made, too, where shards of the gathered table are no whole tiles of rows.
  overwrites_scaled_logits,
  /// And over those that final_logits_soft_cap caps; else a kernel reads them and writes its own.
  overwrites_capped_logits,
  /// One kernel makes the logits' gradient and sums the loss's value: in another buffer.
  makes_loss_value_with_gradient,
  /// A loop adds up gradients as they are cast behind it (grad_dtype).
  narrows_cast_gradients,
  /// Buffers are whole tiles of 8 x 128: of weights as wastes least, of activations along their last dim.
  pads_to_tiles,
  /// Copies that turn an array run beside compute, several at a time.
  turns_beside_compute,
  /// A whole operand is sliced where its gathered counterpart would be larger than the result.
  slices_before_larger_gathers,
  /// The gradient of a mask in slices of experts is made of the rows as they lie, and gathered.
  gathers_mask_gradients,
  /// An operand, one of whose dims one axis leaves, is gathered over the others that split this dim, too.
  gathers_operands_whole,
  /// Partial sums of a weight gradient that go onto a dim which other axes split, too, are summed whole, and sliced.
  sums_unmatched_shards_whole,
  /// An embedding table that is no larger than the rows of all tokens is gathered, also where an exchange would do.
  gathers_tables_up_to_rows,
  /// The head's weight gradient waits where what it is made of is smaller than it is.
  defers_larger_head_gradient,
  /// The order that runs next what frees most is taken where its peak is the least: the head's weight gradient is made once
  /// the gathered weight is gone, and gradient stacks are cleared before the loss.
  takes_list_order,
  lists_kept_experts_apart,
  /// In that order layers of mixtures that share an iteration have it in front of them, where nothing but sums of gradients
  /// moves behind their backward pass.
  lists_cycles_of_mixtures,
  /// Rows that a token's experts return, more than a tile has rows, wait in float32 where they are computed again in layers
  /// that share an iteration.
  widens_returned_rows,
  /// Where the step needs nearly all of the memory, weight gradients of experts whose rows come from other devices, and the
  /// reduction of softmax statistics, run as soon as that frees memory.
  frees_under_pressure,
  /// Each pass looks up the cosines and sines of its positions (YaRN) by itself: what reads rotated queries and keys runs
  /// again in a layer whose recomputation is merged with the first run, too.
  looks_up_rotations_twice,
  /// train_compile's program under ZeRO-1: of weights whose update is gathered to a dim of its own a copy is held from the
  /// start of the step, since the updated ones take their place.
  copies_weights_for_update,
  /// Mixtures on the sparse paths: softmax statistics of attention that is computed again wait, a float32 for each lane.
  keeps_softmax_statistics,
  /// The weight gradient of a head is all-reduced where its words can't be scattered in pieces: the largest prime factor
  /// of their lane tiles (128 words), times the devices that sum, is above Compiler::largest_words_piece.
  all_reduces_indivisible_words,
  /// The rows of a weight's gradient are padded so that equal pieces of what a device keeps are summed one after the other,
  /// and put in their places by a permute: as many pieces as Compiler::piece_budget wants.
  pads_scattered_rows,
  /// Or to whole tiles alone, where equal pieces come out then.
  pads_rows_to_tiles,
  /// The sum of the gradient of experts' weights that a shard_map takes whole is scattered where a device keeps an even
  /// number of tiles of it; else it is all-reduced, and sliced.
  scatters_even_tiles_of_experts,
  /// Likewise of other weights: of columns, and of rows of attention's features.
  scatters_even_tiles,
  /// Likewise of activations' columns, where they are whole tiles (a product's sum over tensor).
  scatters_even_tiles_of_activations,
  /// Logits whose words are split over devices wait for the loss's value, which nothing in the step reads.
  computes_loss_value_late,
  /// So do those that final_logits_soft_cap caps, gathered weight or not.
  computes_capped_loss_value_late,
  /// An axis that splits different dims of a product's operands and result stays on the dim of the larger tensors, also
  /// where another product gathers the same operand anyway.
  lays_out_products_by_size,
  /// Where an axis takes the place of others on a dim, shards are permuted so that those can be gathered in order.
  permutes_before_gathers,
  /// Layers whose features are split: weight gradients of attention and feed-forward run when the rest of the layer's
  /// backward pass has, beside collectives that would wait alone; what they are made of waits as it was gathered, that of a
  /// deferred head too.
  runs_weight_gradients_beside_collectives,
  /// Layers whose features are split run in an order that needs little: what is computed again is made for the gradient that
  /// reads it first, and weight gradients follow the sum of the gradients beside them.
  runs_split_layers_as_read,
  /// A product beside a gather or a reduction of one of its operands becomes a loop of smaller ones, with permutes between
  /// (collective matmul). Collectives are counted as themselves: as what is compiled without.
  multiplies_in_rings,
  /// The head's weight is gathered again for each vocabulary tile (num_vocab_tiling), forward and backward; else once in
  /// front of the loop over tiles.
  gathers_for_each_tile,
  /// Where a policy offloads, the head's weight gradient is made in front of the layers' backward pass: their values come
  /// back from the host so early that it can't be behind them.
  makes_head_gradient_before_offloaded,
};

std::span<const Habit> all_habits();
std::string_view name_of(Habit habit);  ///< "defers_head_gradient", the id in files

class HabitSet {
 public:
  HabitSet() = default;
  HabitSet(std::initializer_list<Habit> habits) {
    for (const Habit habit : habits) add(habit);
  }
  bool has(Habit habit) const { return bits_[static_cast<std::size_t>(habit)]; }
  void add(Habit habit) { bits_[static_cast<std::size_t>(habit)] = true; }
  void remove(Habit habit) { bits_[static_cast<std::size_t>(habit)] = false; }

  static constexpr std::size_t capacity = 128;  ///< habits

  bool operator==(const HabitSet&) const = default;

 private:
  std::bitset<capacity> bits_;
};

}  // namespace shardplan
