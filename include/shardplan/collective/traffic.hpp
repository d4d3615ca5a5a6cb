#pragma once
// What collectives move and take together.
#include <shardplan/collective/collective.hpp>
#include <shardplan/units.hpp>

namespace shardplan {

/// Of one device and step.
struct Traffic {
  Bytes bytes;
  Seconds seconds;  ///< if nothing overlapped; 0 while no machine is known
  bool empty() const { return bytes.value == 0; }
  Traffic& operator+=(const Traffic& part) {
    bytes += part.bytes;
    seconds += part.seconds;
    return *this;
  }
};

/// Of the collectives that `matches`.
template <class Collectives, class Matches>
Traffic traffic_of(const Collectives& collectives, Matches matches) {
  Traffic traffic;
  for (const Collective& collective : collectives)
    if (matches(collective)) traffic += {collective.moved(), collective.seconds};
  return traffic;
}

}  // namespace shardplan
