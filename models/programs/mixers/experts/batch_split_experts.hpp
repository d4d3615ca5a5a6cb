#pragma once
// Routed and shared experts of half batches that take turns (MaxText models/deepseek_batchsplit.py: route_compute_unroute):
// while one half's tokens move, the other's are multiplied.
#include <models/programs/block_builder.hpp>

namespace shardplan {

/// A half batch on its way through the experts.
struct RoutedHalf {
  TensorId tokens = -1;             ///< normed
  TensorId shared = -1;             ///< what the shared experts add
  TensorId weights = -1, ids = -1;  ///< of each token's experts
  TensorId rows = -1;               ///< what experts read, then what they return
};

/// The shared experts and the router.
RoutedHalf add_batch_split_router(BlockBuilder& b, TensorId tokens);
/// The tokens' way to the devices of their experts: all-gathered, then sorted there.
RoutedHalf add_batch_split_dispatch(BlockBuilder& b, RoutedHalf half);
/// The experts' products.
RoutedHalf add_batch_split_experts(BlockBuilder& b, RoutedHalf half);
/// Back, each token's rows summed on the way, and the shared experts added.
TensorId add_batch_split_return(BlockBuilder& b, const RoutedHalf& half);

}  // namespace shardplan
