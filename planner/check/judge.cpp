#include <fmt/format.h>

#include <algorithm>
#include <models/model_names.hpp>
#include <planner/check/judge.hpp>
#include <planner/check/rule_set_findings.hpp>
#include <planner/check/worse_cases.hpp>
#include <rules/logical_axes.hpp>
#include <shardplan/error.hpp>
#include <shardplan/mesh/mesh.hpp>

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

void append(std::vector<std::string>& list, const std::vector<std::string>& more) {
  list.insert(list.end(), more.begin(), more.end());
}

void append(Places& places, const Places& more) {
  append(places.models, more.models);
  append(places.meshes, more.meshes);
  append(places.paths, more.paths);
}

std::vector<Rule> rules_of(const CheckedFinding& checked) {
  std::vector<Rule> rules;
  for (const auto& place : checked.rules) rules.push_back(place.rule);
  return rules;
}

/// Their order is the file's.
bool is_of(const KnownFinding& known, const CheckedFinding& checked) {
  const std::vector<Rule> now = rules_of(checked);
  return known.id == published_id(checked.finding) &&
         std::is_permutation(known.rules.begin(), known.rules.end(), now.begin(), now.end());
}

bool is_about_rules_of(const KnownFinding& known, const CheckAnswer& answer) {
  return std::any_of(answer.findings.begin(), answer.findings.end(),
                     [&](const CheckedFinding& checked) { return is_of(known, checked); });
}

/// "fsdp=2,expert=4" and "expert=4,fsdp=2" are one.
bool is_same_mesh(const std::string& a, const std::string& b) {
  const std::vector<AskedAxis> one = parse_axes(a), other = parse_axes(b);
  return std::is_permutation(one.begin(), one.end(), other.begin(), other.end());
}

std::vector<std::string> logical_axes_of(const CheckAnswer& answer) {
  std::vector<std::string> axes = logical_axis_names();
  for (const CheckedFinding& checked : answer.findings)
    for (const RulePlace& rule : checked.rules) axes.push_back(rule.rule.logical);
  return axes;
}

Standing standing_of(const CheckedFinding& checked, const CheckAnswer& answer, const CheckPolicy& policy) {
  const auto matches = [&](const IgnoredFinding& ignored) { return ignored.matches(checked); };
  if (std::any_of(policy.ignored.begin(), policy.ignored.end(), matches)) return Standing::ignored;
  return policy.baseline && policy.baseline->has(checked, answer) ? Standing::known : Standing::counts;
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

bool Baseline::has(const CheckedFinding& checked, const CheckAnswer& answer) const {
  const auto stands_for = [&](const KnownFinding& known) {
    if (known.severity < checked.finding.severity) return false;
    if (is_of(known, checked)) return true;
    return has_rules_of_worst_place && !traits_of(checked.finding.id).misspelling &&
           known.id == published_id(checked.finding) && is_about_rules_of(known, answer);
  };
  Places then;
  bool is_known = false;
  for (const KnownFinding& known : findings) {
    if (!stands_for(known)) continue;
    append(then, known.places);
    is_known = true;
  }
  return is_known && covers(then.models, looked_at.models, checked.bites.models) &&
         covers(then.meshes, looked_at.meshes, checked.bites.meshes) &&
         covers(then.paths, looked_at.paths, names_of(checked.bites.paths));
}

bool IgnoredFinding::matches(const CheckedFinding& checked) const {
  if (id != published_id(checked.finding)) return false;
  if (place.empty()) return true;
  const auto is_place = [&](const RulePlace& rule) { return rule.rule.logical == place; };
  const std::vector<std::string> only = {place};
  return std::any_of(checked.rules.begin(), checked.rules.end(), is_place) || checked.bites.models == only ||
         checked.bites.meshes == only;
}

IgnoredFinding placed(IgnoredFinding ignored, const CheckAnswer& answer) {
  if (ignored.place.empty()) return ignored;
  if (ignored.place.find('=') != std::string::npos) {
    const auto mesh = std::find_if(answer.meshes.begin(), answer.meshes.end(),
                                   [&](const std::string& one) { return is_same_mesh(one, ignored.place); });
    if (mesh != answer.meshes.end()) return {ignored.id, *mesh};
    const auto axes = parse_axes(ignored.place);
    if (std::all_of(axes.begin(), axes.end(), [](const AskedAxis& a) { return axis_role(a.name) != AxisRole::other; }))
      return ignored;  // of another check, with which this one shares its words
    throw InputError(fmt::format("--ignore {}: {}", ignored.id, unknown_name("mesh", ignored.place, answer.meshes)));
  }
  std::vector<std::string> places = logical_axes_of(answer);
  append(places, answer.models);
  if (contains(places, ignored.place)) return ignored;
  if (const auto model = model_called(ignored.place)) return {ignored.id, *model};
  throw InputError(fmt::format("--ignore {}: no logical axis, model or mesh: {}", ignored.id,
                               unknown_name("place", ignored.place, places)));
}

void judge(CheckAnswer& answer, CheckPolicy policy) {
  for (IgnoredFinding& ignored : policy.ignored) ignored = placed(ignored, answer);
  answer.fail_on = policy.fail_on;
  for (auto& checked : answer.findings) checked.standing = standing_of(checked, answer, policy);
  if (!policy.baseline) return;
  answer.not_compared = why_not_compared(answer, *policy.baseline);
  if (!answer.not_compared.empty()) return;
  for (auto& worse : worse_cases(answer, *policy.baseline)) {
    worse.standing = standing_of(worse, answer, policy);
    answer.findings.insert(answer.findings.begin(), std::move(worse));
  }
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
