#pragma once
// Seconds of splash attention's kernels, from the cycles that they were compiled to:
//   rows · row + steps · step + (visited − masked) · whole block + masked · cut block, for each head, over the clock
// (hardware/profiles, `splash_cycles`; kernels in Pallas state no estimate in a program's text). A block takes at least what
// its products take on the core's matrix unit.
#include <cost_models/partition/operation_work.hpp>
#include <shardplan/machine/hardware.hpp>

namespace shardplan {

/// Of a machine with splash cycles and a clock. Two cores share the heads of the forward kernel ("parallel" in its
/// dimension_semantics), and leave gradients to one of them (all dims "arbitrary": they sum over heads, and prefetch
/// expects one core; jax and tokamax, splash_attention_kernel.py). At 1 GHz and 100 cycles a visited block, 1,000 blocks
/// of 4 heads take 0.4 ms.
Seconds splash_time(const BlockLoops& loops, const HardwareProfile& hardware);

}  // namespace shardplan
