#include <fmt/format.h>

#include <algorithm>
#include <planner/check/judge.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

/// What was not looked at then is neither old nor new.
bool covers(const std::vector<std::string>& then, const std::vector<std::string>& looked_at,
            const std::vector<std::string>& now) {
  return std::all_of(now.begin(), now.end(),
                     [&](const std::string& one) { return contains(then, one) || !contains(looked_at, one); });
}

std::vector<Rule> rules_of(const CheckedFinding& checked) {
  std::vector<Rule> rules;
  for (const auto& place : checked.rules) rules.push_back(place.rule);
  return rules;
}

Standing standing_of(const CheckedFinding& checked, const CheckPolicy& policy) {
  const auto matches = [&](const IgnoredFinding& ignored) { return ignored.matches(checked); };
  if (std::any_of(policy.ignored.begin(), policy.ignored.end(), matches)) return Standing::ignored;
  return policy.baseline && policy.baseline->has(checked) ? Standing::known : Standing::counts;
}

}  // namespace

std::string_view name_of(Standing standing) {
  switch (standing) {
    case Standing::counts:
      return "new";
    case Standing::known:
      return "known";
    case Standing::ignored:
      return "ignored";
  }
  throw InternalError("unknown Standing");
}

bool Baseline::has(const CheckedFinding& checked) const {
  return std::any_of(findings.begin(), findings.end(), [&](const KnownFinding& known) {
    return known.id == published_id(checked.finding) && known.severity >= checked.finding.severity &&
           known.rules == rules_of(checked) && covers(known.models, models, checked.bites.models) &&
           covers(known.meshes, meshes, checked.bites.meshes);
  });
}

bool IgnoredFinding::matches(const CheckedFinding& checked) const {
  if (id != published_id(checked.finding)) return false;
  if (place.empty()) return true;
  const auto is_place = [&](const RulePlace& rule) { return rule.rule.logical == place; };
  const std::vector<std::string> only = {place};
  return std::any_of(checked.rules.begin(), checked.rules.end(), is_place) || checked.bites.models == only ||
         checked.bites.meshes == only;
}

void judge(CheckAnswer& answer, const CheckPolicy& policy) {
  answer.fail_on = policy.fail_on;
  for (auto& checked : answer.findings) checked.standing = standing_of(checked, policy);
}

IgnoredFinding parse_ignored(const std::string& text) {
  const auto colon = text.find(':');
  IgnoredFinding ignored{text.substr(0, colon), colon == text.npos ? "" : text.substr(colon + 1)};
  const auto ids = published_ids();
  if (!contains(ids, ignored.id)) throw InputError("--ignore: " + unknown_name("finding", ignored.id, ids));
  if (colon != text.npos && ignored.place.empty())
    throw InputError(fmt::format("--ignore {}: a logical axis, model or mesh is missing behind the colon", text));
  return ignored;
}

}  // namespace shardplan
