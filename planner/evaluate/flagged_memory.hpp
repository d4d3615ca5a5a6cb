#pragma once
// Memory under flags that only the seconds of a run assume: it was given none, and its command sets them.
#include <optional>
#include <shardplan/configuration.hpp>
#include <shardplan/evaluation.hpp>

namespace shardplan {

/// Of one run.
struct FlaggedMemory {
  MemoryUse without;  ///< no flags
  MemoryUse with;     ///< those assumed
};

/// Where those flags give the program other buffers (XLA:GPU's library products write operands; on TPUs the head's
/// gradient comes first), and its peak is more than a hundredth off that without.
std::optional<FlaggedMemory> memory_with_assumed_flags(const Configuration& configuration);

/// Makes the range of the program without flags span that one, too: whether they are set isn't known.
void span_assumed_flags(MemoryUse& memory, const Configuration& configuration);

}  // namespace shardplan
