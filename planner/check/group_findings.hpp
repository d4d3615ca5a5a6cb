#pragma once
// Findings of many configurations, one entry for each kind.
#include <planner/check/check_answer.hpp>
#include <planner/check/rule_places.hpp>
#include <vector>

namespace shardplan {

struct CaseResult {
  CheckedCase costed;
  std::vector<Finding> findings;
  std::optional<Evaluation> evaluation, fixed;  ///< kept where there are few cases
};

/// Findings of one id and severity about the same rules are one entry, which speaks of the case where it costs most
/// (Finding::extent, where nobody has costed it). `found` and `expected` are of the case whose entry comes first.
CheckAnswer group_findings(const std::vector<CaseResult>& cases, const std::vector<Finding>& of_rules,
                           const RulePlaces& places);

}  // namespace shardplan
