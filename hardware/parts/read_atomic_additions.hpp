#pragma once
// `atomic_additions` of a profile: what adding numbers to the same few places takes.
#include <formats/strict_json.hpp>
#include <shardplan/machine/hardware.hpp>

namespace shardplan {

/// Throws InputError where `in_flight` is less than 1.
AtomicAdditions read_atomic_additions(StrictObject object);

}  // namespace shardplan
