#pragma once
// The units that a profile may write, each a multiple of the SI unit that the program computes in.
#include <cstdint>
#include <string>

namespace shardplan {

enum class Dimension : std::uint8_t {
  bytes,
  bytes_per_second,
  flops_per_second,
  elements_per_second,
  cycles_per_second,
  seconds,
  share,
  count,
  dollars_per_hour,
  watts
};

/// How many SI units one `unit` is: 1e9 for "GB/s", 0.125e9 for "Gbit/s". Throws InputError, beginning with `where`,
/// when the unit is unknown (nearest names) or measures something else than `dimension`.
double si_factor(const std::string& unit, Dimension dimension, const std::string& where);

}  // namespace shardplan
