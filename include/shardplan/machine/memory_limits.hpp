#pragma once
// How much of a device's memory a run may plan with.
#include <optional>
#include <shardplan/machine/hardware.hpp>
#include <shardplan/units.hpp>

namespace shardplan {

/// Memory that is to stay free beside the plan: a share of the capacity, or bytes.
struct MemoryReserve {
  double share = 0;  ///< 0.08 for "8%"
  Bytes bytes;
  bool operator==(const MemoryReserve&) const = default;
};

struct MemoryLimits {
  /// Share of the HBM that the training process takes (XLA_PYTHON_CLIENT_MEM_FRACTION); empty: the machine's own. Only
  /// machines whose profile has process_memory_fraction know it.
  std::optional<double> process_fraction;
  MemoryReserve reserve;
  bool operator==(const MemoryLimits&) const = default;
};

/// Throws InputError on a process fraction for a machine whose programs take all memory.
void check_memory_limits(const MemoryLimits& limits, const HardwareProfile& hardware);

/// Share of the HBM that the process takes: the asked one, the machine's, or all.
double process_fraction(const HardwareProfile& hardware, const MemoryLimits& limits);

/// Bytes of a device that the program can use.
Bytes memory_capacity(const HardwareProfile& hardware, const MemoryLimits& limits);

/// Of `capacity`, what stays free.
Bytes reserved_memory(Bytes capacity, const MemoryReserve& reserve);

}  // namespace shardplan
