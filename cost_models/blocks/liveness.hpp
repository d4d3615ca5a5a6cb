#pragma once
// What the backward pass of a block needs, and what of it is kept, moved to the host or computed again.
#include <cost_models/partition/partitioned_block.hpp>
#include <map>

namespace shardplan {

/// `saved` says where each checkpoint name goes. A block that isn't rematerialized keeps all it needs.
Liveness liveness_of(const Block& block, const std::map<std::string, SavePlace>& saved);

/// Of a step without a backward pass.
Liveness nothing_saved(const Block& block);

}  // namespace shardplan
