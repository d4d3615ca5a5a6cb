#pragma once
// Seconds of a measurement as plans are priced.
#include <planner/calibrate/measurement.hpp>
#include <shardplan/compiler/compiler.hpp>
#include <shardplan/machine/hardware.hpp>

namespace shardplan {

/// Throws InputError where the machine can't have run it: no such number of devices, no peak for the type.
Seconds predict(const Measurement& measurement, const HardwareProfile& hardware, const Compiler& compiler);

}  // namespace shardplan
