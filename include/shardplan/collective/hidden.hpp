#pragma once
// What of a collective's time hides behind compute.
#include <shardplan/units.hpp>

namespace shardplan {

/// What of `seconds` isn't waited for; none where they differ in their last digits alone, as sums in other orders do.
inline Seconds hidden_of(Seconds seconds, Seconds exposed) {
  constexpr double last_digits = 1e-9;
  const Seconds left = seconds - exposed;
  return left.value > last_digits * seconds.value ? left : Seconds{};
}

}  // namespace shardplan
