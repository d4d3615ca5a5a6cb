#pragma once
// What a step's time rests on, in words.
#include <shardplan/assumption.hpp>
#include <string>

namespace shardplan {

/// "attention_efficiency 0.4 (assumed) off by 25%"; "all collectives hide, or none does"
std::string in_words(Assumption assumption, const HardwareProfile& hardware);

}  // namespace shardplan
