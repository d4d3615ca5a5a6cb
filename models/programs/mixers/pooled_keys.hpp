#pragma once
// Keys that stand for runs of tokens (MaxText layers/attention_compressed.py: the compressors and their indexer).
#include <models/programs/block_builder.hpp>

namespace shardplan {

/// One key, which is value too, for each run of `ratio` tokens: [batch, runs, kv heads, head dim]. `parts` 2: a run's key
/// is pooled over the run before it as well, from a projection of its own.
TensorId add_pooled_keys(BlockBuilder& b, TensorId x, std::int64_t ratio, std::int64_t parts);

/// Which runs each query attends to: those that an indexer scores highest, `indexer_topk` of them. No gradient reaches it.
TensorId add_picked_keys(BlockBuilder& b, TensorId x, TensorId low_rank_query, std::int64_t ratio);
/// All that lie before it.
TensorId add_all_pooled_keys_mask(BlockBuilder& b, TensorId x, std::int64_t ratio);

}  // namespace shardplan
