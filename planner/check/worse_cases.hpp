#pragma once
// What takes longer than in an earlier check, or doesn't start any more: rules that nobody thought of a finding for.
#include <planner/check/judge.hpp>
#include <vector>

namespace shardplan {

/// "" where both are of one machine and under the same arguments, however these are written; else what tells them apart:
/// "the baseline's are of h100, these of tpu-v5p".
std::string why_not_compared(const CheckAnswer& answer, const Baseline& baseline);

/// Where they can be compared: of configurations with as many tokens one finding about those whose step is 5% longer now,
/// where no other finding fails the check (standings are known), one about those that a sweep leaves out now, or has no mesh
/// for. Each speaks of the one that lost most.
std::vector<CheckedFinding> worse_cases(const CheckAnswer& answer, const Baseline& baseline);

}  // namespace shardplan
