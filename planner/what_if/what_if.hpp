#pragma once
// What changing one thing of a run is worth: what one would ask next of a plan, answered beside it.
#include <shardplan/answer/what_if.hpp>
#include <vector>

namespace shardplan {

/// By kind; of a kind the fastest first. Each is costed, none is searched: what MaxText would refuse is left out, what
/// lacks memory is not. Of remat policies those that no other beats in both time and memory; of chips the axis that
/// takes them best. Flags are those that `now` has been weighed for.
std::vector<WhatIf> what_ifs_of(const Configuration& configuration, const Evaluation& now);

}  // namespace shardplan
