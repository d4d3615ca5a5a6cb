#pragma once
// What a compiler combines: collectives of weights of one kind over the same axes in one loop body become one, in the
// order in which they are needed, up to a threshold of bytes. The one starts when the last of its parts can, and has to
// have ended before the first use of any; what is made of another's result stays apart (XLA: all_gather_combiner,
// reduce_scatter_combiner, all_reduce_combiner). Only what a flag asks for is combined here (CompilerSetting): XLA:GPU's
// own threshold of 30 MiB, below most weights, isn't modelled.
#include <cost_models/time/body_schedule.hpp>
#include <shardplan/collective/collective.hpp>
#include <shardplan/compiler/compiler.hpp>

namespace shardplan {

struct CombinedKind {
  CollectiveKind kind = CollectiveKind::all_gather;
  AxisList axes;
  Bytes threshold;  ///< no bytes: stays alone
  Bytes bytes;
  bool operator==(const CombinedKind&) const = default;
};

/// The compiler's for collectives of this kind; 0: it combines none.
Bytes combine_threshold(const Compiler& compiler, CollectiveKind kind);

/// exposed_in_body of what they become; what a combined one exposes is shared out by the parts' seconds.
BodyWaits schedule_combined(const std::vector<Seconds>& steps, const std::vector<ScheduledCollective>& moves,
                            const std::vector<CombinedKind>& kinds);

/// place_body of what they become, with the indices of the moves that each is made of.
struct PlacedCombination {
  PlacedBody body;
  std::vector<std::vector<std::size_t>> parts;  ///< by PlacedMove::collective
};
PlacedCombination place_combined(const std::vector<Seconds>& steps, const std::vector<ScheduledCollective>& moves,
                                 const std::vector<CombinedKind>& kinds);

}  // namespace shardplan
