#include <fmt/format.h>

#include <cmath>
#include <shardplan/error.hpp>
#include <shardplan/machine/memory_limits.hpp>

namespace shardplan {

void check_memory_limits(const MemoryLimits& limits, const HardwareProfile& hardware) {
  if (limits.process_fraction && !hardware.process_memory_fraction)
    throw InputError("--memory-fraction: on " + hardware.name + " a program has all memory; GPUs' allocators take a share");
  const Bytes capacity = memory_capacity(hardware, limits);
  if (reserved_memory(capacity, limits.reserve) >= capacity)
    throw InputError(fmt::format("--reserve-hbm: leaves nothing of the {:.1f} GiB of a device of {}", gibibytes(capacity),
                                 hardware.name));
}

double process_fraction(const HardwareProfile& hardware, const MemoryLimits& limits) {
  if (!hardware.process_memory_fraction) return 1;
  return limits.process_fraction.value_or(hardware.process_memory_fraction->value);
}

Bytes memory_capacity(const HardwareProfile& hardware, const MemoryLimits& limits) {
  return {static_cast<std::int64_t>(hardware.hbm_capacity.value * process_fraction(hardware, limits))};
}

Bytes reserved_memory(Bytes capacity, const MemoryReserve& reserve) {
  return Bytes{std::llround(static_cast<double>(capacity.value) * reserve.share)} + reserve.bytes;
}

}  // namespace shardplan
