#pragma once
// `power_states` of a profile: the clock of each state that a chip can be held in.
#include <formats/strict_json.hpp>
#include <optional>
#include <shardplan/machine/hardware.hpp>

namespace shardplan {

/// {"default": 3, "clocks": [{"state": 3, "clock": {…}}, {"state": 7, "clock": {…}}]}. Throws InputError, with the place, on
/// fewer than two states, on any out of order, and on a default that isn't one of them.
std::optional<PowerStates> read_power_states(StrictObject& profile);

}  // namespace shardplan
