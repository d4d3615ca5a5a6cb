#pragma once
// The clock that a program's compute runs at. A TPU 7x is held in the power state that `--xla_tpu_dvfs_p_state` names; its
// peaks are those of the fastest. Products, attention and vector work take as much longer as the clock is slower; HBM and
// links have clocks of their own (hardware/profiles/tpu-7x.json, `power_states`, with what was measured).
#include <shardplan/compiler/compiler.hpp>
#include <shardplan/machine/hardware.hpp>
#include <shardplan/units.hpp>

namespace shardplan {

/// Of the clock at which the peaks hold: 1 on machines without power states. At 2 GHz in state 3 and 4 in state 7, the
/// peaks' clock, a program in state 5 has 0.75. Throws InputError on a state below the first or above the last.
double clock_share(const HardwareProfile& hardware, const Compiler& compiler);

/// What takes `seconds` at the peaks' clock takes so long at the program's: 3 s at 0.75 of it are 4.
Seconds at_clock_of(const HardwareProfile& hardware, const Compiler& compiler, Seconds seconds);

}  // namespace shardplan
