#include <algorithm>
#include <planner/check/rule_places.hpp>

namespace shardplan {

RulePlaces::RulePlaces(const std::string& name_or_path, const std::string& config) : name_(name_or_path) {
  listed_ = load_lined_rules(name_or_path);
  chosen_ = listed_.set;
  if (config.empty() || chosen_.custom) return;
  name_ = config;
  listed_ = load_lined_rules(config);
}

RulePlace RulePlaces::place_of(const Rule& rule) const {
  const auto& rules = listed_.set.rules;
  const auto found = std::find(rules.begin(), rules.end(), rule);
  return {rule, found == rules.end() ? 0 : listed_.lines[static_cast<std::size_t>(found - rules.begin())]};
}

std::vector<RulePlace> RulePlaces::places_of(const Finding& finding) const {
  std::vector<RulePlace> places;
  for (std::size_t i = 0; i < finding.rules.size(); ++i) {
    places.push_back(place_of(finding.rules[i]));
    if (i < finding.rule_indices.size()) places.back().line = listed_.lines[finding.rule_indices[i]];
  }
  return places;
}

}  // namespace shardplan
