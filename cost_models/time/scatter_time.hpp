#pragma once
// Seconds of scatters that a device's core writes number by number (XLA:TPU).
#include <cost_models/partition/operation_work.hpp>
#include <shardplan/compiler/compiler.hpp>
#include <shardplan/machine/hardware.hpp>

namespace shardplan {

struct ScatterTime {
  Seconds expected;
  Seconds at_least;  ///< were the result in VMEM: what of it grows no faster than the numbers
};

/// updates · cycles / clock; nothing where the compiler has no scatter_cycles or the machine no clock.
ScatterTime scatter_time(const Scatter& scatter, const HardwareProfile& hardware, const Compiler& compiler);

ScatterTime operator+(const ScatterTime& a, const ScatterTime& b);

/// Of one run of an operation forward, and of one forward and backward.
ScatterTime forward_scatter_time(const OperationWork& work, const HardwareProfile& hardware, const Compiler& compiler);
ScatterTime scatter_time(const OperationWork& work, const HardwareProfile& hardware, const Compiler& compiler);

}  // namespace shardplan
