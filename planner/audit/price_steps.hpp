#pragma once
// Seconds of a compiled program's kernels and collectives on a machine, by the formulas that plans are priced with:
//   what the compiler stated      cycles / clock, where the machine has one, in the power state that flags give
//   dense and grouped products, attention   their flops at the shares of peak that product_time and compute_time know,
//                                 and no less than their memory traffic takes
//   other kernels                 what they read and write over HBM
//   copies to the host            over its link
#include <audit/group_axes.hpp>
#include <audit/timeline/walk_schedule.hpp>
#include <planner/audit/price_traffic.hpp>
#include <shardplan/compiler/compiler.hpp>

namespace shardplan {

/// Throws InputError when the program copies to its host and the machine has no host_link_bandwidth.
StepPrices price_steps(const HloProgram& program, const HloSchedule& schedule, const HardwareProfile& hardware,
                       const Compiler& compiler, const Mesh& mesh, LinkPrices& links);

}  // namespace shardplan
