#pragma once
// attention=dot_product where context splits the sequence and each head of keys has one of queries
// (Habit::splits_keys_of_single_queries): a device multiplies all queries with its own keys and values.
//   forward    queries are gathered; largest score and sum of exponentials of each query are reduced, its result scattered
//   backward   the result's gradient, keys and values are gathered, scores exchange keys for queries twice (their gradient,
//              and once more where it is added up) and the mask once; the keys' gradient is scattered, queries' and values'
//              stay where they are
// Worked: 2 sequences of 4,096 tokens, 32 heads of 128, context=2: queries 67 MB, scores 1.07 GB a device.
#include <cost_models/operations/operation_kind.hpp>

namespace shardplan {

/// The axes that split keys so; empty: none.
AxisList axes_of_split_keys(const BlockState& state, const Operation& op);

void attend_to_split_keys(BlockState& state, const Operation& op, Pass pass);
/// And contributes the gradients.
void return_from_split_keys(BlockState& state, const Operation& op);

}  // namespace shardplan
