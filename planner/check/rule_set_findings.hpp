#pragma once
// Findings about a rule set alone, whatever model and mesh: rule-unreachable, rule-name-unknown, rule-axis-unknown.
#include <shardplan/evaluation.hpp>
#include <vector>

namespace shardplan {

std::vector<Finding> rule_set_findings(const RuleSet& rules);

/// Of them those about names that are nobody's.
std::vector<Finding> misspellings(const RuleSet& rules);

}  // namespace shardplan
