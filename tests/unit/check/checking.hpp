#pragma once
// What the tests of check share: one line of arguments → findings.
#include <algorithm>
#include <planner/check/check_configuration.hpp>
#include <string>
#include <tests/unit/reading.hpp>
#include <vector>

namespace shardplan {

inline CheckedConfiguration checked(const std::string& line, const MachineChoice& machine = {}) {
  return check_configuration(read(line, machine));
}

inline std::vector<std::string> ids_of(const std::vector<Finding>& findings) {
  std::vector<std::string> ids;
  for (const auto& finding : findings) ids.emplace_back(published_id(finding));
  return ids;
}

/// A finding of that id, or an empty one.
inline Finding finding_of(const std::vector<Finding>& findings, FindingId id) {
  const auto found = std::find_if(findings.begin(), findings.end(), [&](const auto& f) { return f.id == id; });
  return found == findings.end() ? Finding{} : *found;
}

inline std::vector<std::string> logical_names(const std::vector<Rule>& rules) {
  std::vector<std::string> names;
  for (const auto& rule : rules) names.push_back(rule.logical);
  return names;
}

}  // namespace shardplan
