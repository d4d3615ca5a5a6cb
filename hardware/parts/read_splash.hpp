#pragma once
// `splash_cycles` of a profile: cycles of splash attention's kernels, compiled by hardware/compiled/splash_cycles.py.
#include <formats/strict_json.hpp>
#include <shardplan/machine/hardware.hpp>

namespace shardplan {

/// Throws InputError where a kernel is missing, given twice, or has a number that is no cycles.
SplashTables read_splash_tables(StrictObject object);

}  // namespace shardplan
