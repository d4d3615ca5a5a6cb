#pragma once
// Rules that no tensor can ever use.
#include <cstddef>
#include <shardplan/mesh/sharding.hpp>
#include <vector>

namespace shardplan {

struct UnreachableRule {
  std::size_t rule;       ///< index into RuleSet::rules
  std::size_t hidden_by;  ///< the earlier rule of the same name that always applies first
};

/// A rule is unreachable when an earlier rule of its name has no axis that it lacks: whenever its own axes are all
/// free, the earlier rule's were too, and took the dim. The usual case is a longer list after a shorter one.
std::vector<UnreachableRule> unreachable_rules(const RuleSet& rules);

}  // namespace shardplan
