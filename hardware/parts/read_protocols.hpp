#pragma once
// The "protocols" of a profile: the ways in which its library sends, by size of message.
#include <formats/strict_json.hpp>
#include <shardplan/machine/hardware.hpp>

namespace shardplan {

/// None where the profile has no "protocols".
std::vector<Protocol> read_protocols(StrictObject& profile);

}  // namespace shardplan
