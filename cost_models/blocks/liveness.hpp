#pragma once
// What the backward pass of a block needs, and what of it is kept, moved to the host or computed again.
#include <cost_models/partition/partitioned_block.hpp>
#include <map>

namespace shardplan {

/// `saved` says where each checkpoint name goes. A block that isn't rematerialized keeps all it needs. With
/// `output_needed` its output is recomputed too: the next layer of the same scan iteration reads it. Of a layer whose
/// recomputation is merged with its first run, what follows from rotations that each pass looks up for itself runs again
/// unless `merges_lookups` (Habit::looks_up_rotations_twice).
Liveness liveness_of(const Block& block, const std::map<std::string, SavePlace>& saved, bool output_needed = false,
                     bool merges_lookups = true);

/// Of a step without a backward pass.
Liveness nothing_saved(const Block& block);

}  // namespace shardplan
