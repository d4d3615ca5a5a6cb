#pragma once
// What a compiler combines: collectives of weights of one kind over the same axes in one loop body become one, in the
// order in which they are needed, up to a threshold of bytes. The one starts when the last of its parts can, and has to
// have ended before the first use of any; what is made of another's result stays apart (XLA: all_gather_combiner,
// reduce_scatter_combiner, all_reduce_combiner): the compiler's own (OverlapRules::combines_up_to) or what a flag gives
// (CompilerSetting). Worked, 30 MiB, llama3.1-8b over fsdp=8: the scattered gradients of wo and wi_1 are 14.7 MB each and
// become one of 234.9 MB in and 29.4 out; wi_0's and those of attention's weights (10.5 MB) another.
#include <cost_models/time/schedule/body_schedule.hpp>
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

/// A flag's for collectives of this kind; 0: none is given.
Bytes combine_threshold(const Compiler& compiler, CollectiveKind kind);
/// That, or the compiler's own; 0: it combines none.
Bytes combine_limit(const Compiler& compiler, CollectiveKind kind);
/// What counts against it: of a sum that is scattered a device's share.
Bytes result_of(const Collective& collective);

/// exposed_in_body of what they become, or exposed_as_issued where one may be in flight; what a combined one exposes is
/// shared out by the parts' seconds.
BodyWaits schedule_combined(const std::vector<Seconds>& steps, const std::vector<ScheduledCollective>& moves,
                            const std::vector<CombinedKind>& kinds, const OverlapRules& overlap);

/// place_body of what they become, or place_as_issued, with the indices of the moves that each is made of.
struct PlacedCombination {
  PlacedBody body;
  std::vector<std::vector<std::size_t>> parts;  ///< by PlacedMove::collective
};
PlacedCombination place_combined(const std::vector<Seconds>& steps, const std::vector<ScheduledCollective>& moves,
                                 const std::vector<CombinedKind>& kinds, const OverlapRules& overlap);

}  // namespace shardplan
