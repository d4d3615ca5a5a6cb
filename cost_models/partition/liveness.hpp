#pragma once
// What the backward pass of a block needs, and what of it is kept, moved to the host or computed again.
#include <map>
#include <shardplan/program.hpp>

namespace shardplan {

struct Liveness {
  std::vector<bool> needed;         ///< by the backward pass, one a tensor
  std::vector<bool> recomputed;     ///< one an operation: runs again in the backward pass
  std::vector<TensorId> saved;      ///< kept on the device from forward to backward (the block's input included)
  std::vector<TensorId> offloaded;  ///< likewise, on the host
};

/// Tensors whose values the gradient of `op` reads.
std::vector<TensorId> read_by_gradient(const Block& block, const Operation& op);

/// `saved` says where each checkpoint name goes. A block that isn't rematerialized keeps all it needs.
Liveness liveness_of(const Block& block, const std::map<std::string, SavePlace>& saved);

}  // namespace shardplan
