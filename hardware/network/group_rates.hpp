#pragma once
// Rates of a group of devices from the shape of the links it has, and how the rates of parts combine.
#include <cstdint>

namespace shardplan {

/// Rates per device (bytes/s, raw links) of one collective in a group of `size`, all such groups of the machine being
/// at it at once. An all-gather with result S takes (n-1)/n·S / ring; an all-to-all of a local buffer B takes
/// (n-1)/n·B / exchange.
struct GroupRates {
  int size = 1;
  double ring = 0, exchange = 0, shift = 0;
  int hops = 0;      ///< link crossings on the longest way (on a graph: steps)
  double waits = 0;  ///< seconds of the links on that way, on a graph: in place of hops · hop_latency
};

/// The members of a group along one torus dim: `size` of them, each `stride` chips from the next.
struct DimPart {
  int size = 1;
  int stride = 1;
  bool closes = false;  ///< the last is `stride` hops from the first again, over a wraparound link
};

/// Bytes over the busiest link, as a share of each member's buffer, when all members exchange along the part.
///   ring  n/8·stride, line  ⌊n/2⌋⌈n/2⌉/n·stride
double exchange_load(const DimPart& part);

/// Rates of one part on links of `link` bytes/s in each direction.
GroupRates rates_of(const DimPart& part, double link);

/// `inner` groups of which `outer` joins corresponding members: the two take turns.
GroupRates nested(const GroupRates& inner, const GroupRates& outer);

}  // namespace shardplan
