#pragma once
// Seconds of a collective on the links that its group of devices has:
//   executions × (latency + share of the bytes that moves / rate)
// Textbook costs of bandwidth-optimal algorithms (Chan et al., "Collective communication: theory, practice, and
// experience", 2007; the same in jax-ml/scaling-book, sharding.md).
#include <shardplan/collective/collective.hpp>
#include <shardplan/machine/hardware.hpp>

namespace shardplan {

/// Seconds of all executions. A group of one device takes no time. Throws InternalError when `network` is that of a
/// group of another size or has no rate for this kind: a collective never costs nothing, or infinity, by accident.
Seconds collective_time(const Collective& collective, const GroupNetwork& network);

}  // namespace shardplan
