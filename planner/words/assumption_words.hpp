#pragma once
// What a step's time rests on, in words.
#include <shardplan/assumption.hpp>
#include <string>

namespace shardplan {

/// "with attention_efficiency (assumed) off by 25%"; "if all collectives hid, or none did"
std::string in_words(Assumption assumption, const HardwareProfile& hardware);

}  // namespace shardplan
