#include <algorithm>
#include <formats/strict_json.hpp>
#include <planner/check/rule_places.hpp>
#include <rules/load_rules.hpp>
#include <rules/rule_lines.hpp>

namespace shardplan {
namespace {

bool is_built_in(const std::string& name) {
  const auto names = rule_set_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

RulePlaces::RulePlaces(const std::string& name_or_path) : is_file_(!is_built_in(name_or_path)) {
  set_ = load_rules(name_or_path);
  lines_ = rule_lines(is_file_ ? read_file(name_or_path) : rules_yaml(name_or_path), name_or_path);
}

RulePlace RulePlaces::place_of(const Rule& rule) const {
  const auto& rules = set_.rules;
  const auto found = std::find(rules.begin(), rules.end(), rule);
  return {rule, found == rules.end() ? 0 : lines_[static_cast<std::size_t>(found - rules.begin())]};
}

std::vector<RulePlace> RulePlaces::places_of(const Finding& finding) const {
  std::vector<RulePlace> places;
  for (std::size_t i = 0; i < finding.rules.size(); ++i) {
    places.push_back(place_of(finding.rules[i]));
    if (i < finding.rule_indices.size()) places.back().line = lines_[finding.rule_indices[i]];
  }
  return places;
}

}  // namespace shardplan
