#pragma once
// What takes longer than in an earlier check though no finding is new there: rules that nobody thought of a finding for.
#include <optional>
#include <planner/check/judge.hpp>

namespace shardplan {

/// The configurations that both looked at, with as many tokens on the same machine, whose step is 5% longer now and whose
/// collectives move more: one finding, about the one that lost most. Standings are known. Nothing where a baseline has no
/// steps.
std::optional<CheckedFinding> slower_cases(const CheckAnswer& answer, const Baseline& baseline);

}  // namespace shardplan
