#pragma once
// A lookup's table, ids and rows on the mesh, for its inputs {table, token ids}.
#include <cost_models/moves/reshard.hpp>
#include <cost_models/operations/operation_kind.hpp>
#include <optional>

namespace shardplan {

Dim column_of(const BlockState& state, const Operation& op);
/// What splits the tokens.
AxisList token_axes(const BlockState& state, TensorId ids);
/// Of these those that split nothing of the table: each of their devices has other tokens and the same shard.
AxisList axes_beside_table(const BlockState& state, const Operation& op);
Bytes whole_bytes(const BlockState& state, TensorId tensor);

/// What the local lookup yields: each device looks all tokens of the table's group up in its own columns (and, where
/// the vocabulary is split, finds only some of them: a partial sum).
Layout lookup_layout(const BlockState& state, const Operation& op);

/// Where columns become parts of the sequence the rows of a batch that other axes split are gathered over these on the way,
/// forward in columns, backward as rows (v5p, v6e): the axes.
AxisList gathered_over(const BlockState& state, const Operation& op);

/// Columns over axes of both the batch and the sequence (fsdp and context), beside a batch that other axes split, too
/// (data): rows of those are gathered (v5p). With as many parts of columns as of the batch, exchanges and a permute bring
/// rows to their devices (qwen2515b_v5p64_context4_data4_fsdp2_full,
/// qwen306b_v5p16_context2_data2_fsdp2_qkv_proj_offloaded);
/// else they are gathered whole (qwen306b_v5p64_fsdp4_data2_context4_full, qwen306b_v5p64_fsdp4_data4_context2_full).
struct MixedColumns {
  AxisList columns, batch, sequence;
  AxisList rest;  ///< of the batch, beside the columns
  bool evenly;    ///< as many parts of columns as of the batch
};

std::optional<MixedColumns> mixed_columns(const BlockState& state, const Operation& op);

/// The table as it is gathered: whole but for the words that a device keeps; where the rows want the axes that split those
/// on their columns, these are split instead (recorded on 7x: tensor=2 and 4 beside fsdp=2 to 8).
PartitionSpec gathered_table(const BlockState& state, const Operation& op);

/// Words are split over axes that split the rows' columns, and other axes split the tokens: what a device finds of the rows
/// comes out in another order of devices than rows have. The axes of the tokens split the table's columns too (fsdp,
/// expert), or not (data). Recorded on v5p, v6e and H100: tensor=2 and 4 beside fsdp=2 to 8, expert=8, data=2 and 4.
struct SplitWords {
  AxisList words, tokens;
  AxisList met;        ///< those of the tokens that rows are put in order among: where they split columns, these alone
  AxisList rest;       ///< other axes of the tokens
  bool split_columns;  ///< by axes of the tokens
  bool smaller_table;  ///< than the rows of all tokens

  /// Recorded for both sizes of table where columns are split; else for a larger one, not for a smaller (ll7_v5p4_pp2tp2).
  bool reorders() const { return !tokens.empty() && (split_columns || !smaller_table); }
};

std::optional<SplitWords> split_words(const BlockState& state, const Operation& op);

/// Puts a device's rows, whose columns the words' axes split, in the order of the other devices that hold those tokens.
Move permuted_rows(const BlockState& state, const Operation& op, const SplitWords& split);

/// Of tokens that axes beside the columns' split, too, XLA:TPU gathers the scattered rows over those, and sums the table's
/// gradient over all of them at once, whole.
bool makes_whole_rows(const BlockState& state, const SplitWords& split);

}  // namespace shardplan
