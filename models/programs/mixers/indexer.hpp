#pragma once
// The indexer of DeepSeek sparse attention (MaxText layers/attention_mla.py: Indexer): few, cheap heads score every key
// for every query, and each query attends to the keys that score highest.
#include <models/programs/block_builder.hpp>

namespace shardplan {

/// Mask [batch, query, key], from the hidden state and the queries' low rank. No gradient passes it: the indexer learns
/// from a loss of its own, which is off unless indexer_loss_scaling_factor is set. -1 where the sequence is no longer
/// than indexer_topk: every key is attended to, and the indexer's weights lie idle.
TensorId add_indexer(BlockBuilder& b, TensorId x, TensorId low_rank_query);

}  // namespace shardplan
