#pragma once
// What takes longer than in an earlier check, or doesn't start any more: rules that nobody thought of a finding for.
#include <planner/check/judge.hpp>
#include <vector>

namespace shardplan {

/// Of configurations that both looked at on the same machine, under the same arguments, with as many tokens: one finding
/// about those whose step is 5% longer now, where no other finding fails the check (standings are known), one about those
/// that a sweep leaves out now. Each speaks of the one that lost most. None where a baseline has no steps.
std::vector<CheckedFinding> worse_cases(const CheckAnswer& answer, const Baseline& baseline);

}  // namespace shardplan
