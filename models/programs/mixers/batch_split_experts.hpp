#pragma once
// Routed and shared experts of half batches that take turns (MaxText models/deepseek_batchsplit.py: route_compute_unroute):
// both are routed, then both are multiplied, then both come back, so that one half's tokens move while the other's are
// multiplied.
#include <models/programs/block_builder.hpp>

namespace shardplan {

/// A half batch on its way through the experts.
struct RoutedHalf {
  TensorId shared = -1;         ///< what the shared experts add
  TensorId weights = -1, ids = -1;  ///< of each token's experts
  TensorId rows = -1;           ///< what experts read, then what they return
};

/// The shared experts, the router, and the tokens' way to the devices of their experts: all-gathered, then sorted there.
RoutedHalf add_batch_split_route(BlockBuilder& b, TensorId x);
/// The experts' products.
RoutedHalf add_batch_split_experts(BlockBuilder& b, RoutedHalf half);
/// Back, each token's rows summed on the way, and the shared experts added.
TensorId add_batch_split_return(BlockBuilder& b, const RoutedHalf& half);

}  // namespace shardplan
