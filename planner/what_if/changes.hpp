#pragma once
// The configurations that differ from a run in one thing.
#include <shardplan/answer/what_if.hpp>
#include <vector>

namespace shardplan {

struct RunChange {
  WhatIfKind kind = WhatIfKind::remat;
  std::string words;
  Configuration configuration;
};

/// The named remat policies that the run doesn't have.
std::vector<RunChange> other_remat_policies(const Configuration& configuration);

/// Half and twice the batch; half of it in twice the passes.
std::vector<RunChange> other_batches(const Configuration& configuration);

/// Half and twice the length.
std::vector<RunChange> other_sequences(const Configuration& configuration);

/// The smallest factor of each axis inside a slice, to each of the axes that a search would use.
std::vector<RunChange> moved_factors(const Configuration& configuration);

/// Moments and weights in bfloat16, the optimizer in host memory; each where it isn't so already.
std::vector<RunChange> other_states(const Configuration& configuration);

/// Without each flag that is given and has been weighed, with each that isn't.
std::vector<RunChange> other_flags(const Configuration& configuration, const std::vector<FlagWorth>& weighed);

/// Splash attention in the blocks that it could have and the run doesn't (splash_blocks_of).
std::vector<RunChange> other_attention_blocks(const Configuration& configuration);

/// The run on so many times its chips (2, or 1/2 as 0.5): one for each axis that could take or give the factor. None
/// where the machine has no such size.
std::vector<RunChange> on_chips(const Configuration& configuration, double factor);

}  // namespace shardplan
