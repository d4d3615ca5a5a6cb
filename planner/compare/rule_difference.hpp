#pragma once
// Two rule sets line by line: what the second one says otherwise, and what each such change alone is worth.
#include <optional>
#include <rules/rule_lines.hpp>
#include <shardplan/evaluation.hpp>
#include <string>
#include <vector>

namespace shardplan {

enum class RulePart : std::uint8_t {
  rules,          ///< the rules of one logical axis
  order,          ///< the same rules in another order, which is their priority
  mesh_axes,      ///< the axes that the set is written for
  data_sharding,  ///< the axes of the input batch
};
std::string_view name_of(RulePart part);  ///< "mesh_axes"

/// A rule with the line, from 1, of the file that it stands in.
struct RuleLine {
  int line = 0;
  Rule rule;
};

struct RuleChange {
  RulePart part = RulePart::rules;
  std::string logical;                    ///< the axis whose rules change; "" of the other parts
  std::vector<RuleLine> first, second;    ///< what either set says; empty: nothing
  std::optional<Evaluation> alone;        ///< the first run with this change alone; empty where the mesh has no place in it
};

struct RuleDifference {
  std::string first, second;  ///< the sets' names
  std::vector<RuleChange> changes;
};

/// Logical axes in the order of the first set, then those that only the second has; then order, mesh axes, data sharding.
RuleDifference rule_difference(const LinedRules& first, const LinedRules& second);

/// `set` with one change of the difference taken over from `second`.
RuleSet with_change(RuleSet set, const RuleChange& change, const RuleSet& second);

}  // namespace shardplan
