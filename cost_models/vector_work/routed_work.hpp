#pragma once
// Vector work of rows on their way to experts and back: each token's rows are made, [tokens, top_k, width], or weighted
// and summed; rows that an exchange sends and receives are written as [rows, width/1024, 1024]. A dim that a buffer's
// layout fills up to 8 costs as if it were 8.
#include <cost_models/partition/block_state.hpp>
#include <cost_models/partition/operation_work.hpp>

namespace shardplan {

struct RoutedRows {
  double token_elements = 0;  ///< of one row a token, all tokens that the device routes
  TensorId buffer = -1;       ///< the experts' rows
  bool dispatched = true;     ///< to the experts, or back from them
  bool exchanged = false;     ///< between devices, row by row
};

OperationWork routed_work(const BlockState& state, const RoutedRows& rows);

}  // namespace shardplan
