#pragma once
// A walk through a scheduled program, with one compute stream, one network channel on which collectives run one at a
// time, and engines for copies. A collective starts when it is issued and the channel is free; what waits for it (its
// other half, or the first use of its result) waits until it has ended. Loops run as often as they say; of branches the
// one that takes longest.
// Worked: issue a gather of 20 ms, kernels of 15 ms, wait: a window of 15 ms, 5 exposed, 20 in all.
#include <audit/hlo/hlo_program.hpp>
#include <audit/timeline/hlo_schedule.hpp>
#include <audit/timeline/timeline.hpp>
#include <shardplan/compiler/overlap_rules.hpp>

namespace shardplan {

/// Seconds of one execution.
struct StepPrices {
  std::vector<std::vector<Seconds>> kernels;      ///< by computation and step; 0 for what is no kernel
  std::vector<std::vector<Seconds>> collectives;  ///< by computation, as HloComputation::collectives
  double collective_processors = 0;  ///< share of those of the compute stream that a collective takes while it runs
};

/// How collectives run that the text leaves open (HloStep::settled). Of kinds that aren't asynchronous the device waits
/// where they stand.
struct OpenRules {
  CollectiveKindSet asynchronous;
  int window = 0;  ///< products and attention kernels in front that one may run beside; 0: all that don't make its operand
};

/// A loop that communicates and whose trips nobody knows runs once; count_traffic refuses such a program.
Timeline walk(const HloProgram& program, const HloSchedule& schedule, const StepPrices& prices, const OpenRules& rules);

/// The same with Timeline::trace.
Timeline trace(const HloProgram& program, const HloSchedule& schedule, const StepPrices& prices, const OpenRules& rules);

}  // namespace shardplan
