#pragma once
// What the answers of `plan` say alike as text and as markdown; no colours.
#include <shardplan/plan.hpp>
#include <string>

namespace shardplan {

/// Why nothing is recommended on a machine: "needs 101 GiB of 95.7 GiB at least (5.3 GiB too much) with fsdp=8, default,
/// full", "ring-needs-expert-parallelism: …".
std::string shortfall_of(const MachinePlan& machine);

/// "14.7%"; from twice the time on "17.8x".
std::string slower_in_words(double slower);

}  // namespace shardplan
