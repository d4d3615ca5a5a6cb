#include <fmt/format.h>

#include <iterator>
#include <planner/check/group_findings.hpp>
#include <planner/check/rule_set_findings.hpp>

namespace shardplan {
namespace {

template <class Item>
bool contains(const std::vector<Item>& list, const Item& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

template <class Item>
void add_once(std::vector<Item>& list, const Item& item) {
  if (!contains(list, item)) list.push_back(item);
}

double seconds_of(const Finding& finding) { return finding.cost ? finding.cost->collectives.value : 0; }

/// Where nobody has costed the fix, what there is of it decides.
bool is_worse(const Finding& a, const Finding& b) {
  if (a.cost || b.cost) return seconds_of(a) > seconds_of(b);
  return a.extent > b.extent;
}

/// What a rule author would call the same finding, wherever it costs most: of one kind, as grave, about the same rules;
/// about the same place where no rule is behind it.
bool is_same(const Finding& a, const Finding& b) {
  return a.is_like(b) && a.severity == b.severity && a.rules == b.rules && (!a.rules.empty() || a.where == b.where);
}

/// The entry for this finding; a new one at the end when it is the first.
CheckedFinding& entry_for(std::vector<CheckedFinding>& entries, const Finding& finding) {
  const auto known = std::find_if(entries.begin(), entries.end(), [&](const CheckedFinding& entry) {
    return entry.bites.cases > 0 && is_same(entry.finding, finding);
  });
  return known != entries.end() ? *known : entries.emplace_back();
}

void add(std::vector<CheckedFinding>& entries, const Finding& finding, const CaseResult& in, const RulePlaces& places) {
  CheckedFinding& entry = entry_for(entries, finding);
  if (entry.bites.cases == 0 || is_worse(finding, entry.finding)) {
    entry.finding = finding;
    entry.worst = describe(in.costed.place);
    entry.rules = places.places_of(finding);
  }
  entry.bites.add(in.costed.place);
}

bool comes_first(const CheckedFinding& a, const CheckedFinding& b) {
  if (a.finding.severity != b.finding.severity) return a.finding.severity > b.finding.severity;
  return seconds_of(a.finding) > seconds_of(b.finding);
}

/// The case to show whole: the first one with the worst finding.
const CaseResult& shown_case(const std::vector<CaseResult>& cases) {
  const auto worst = [](const CaseResult& c) {
    int severity = -1;
    for (const auto& finding : c.findings) severity = std::max(severity, static_cast<int>(finding.severity));
    return severity;
  };
  return *std::max_element(cases.begin(), cases.end(),
                           [&](const auto& a, const auto& b) { return worst(a) < worst(b); });
}

}  // namespace

std::string describe(const CheckedPlace& place) {
  const std::string path = place.path == MoePath::none ? "" : fmt::format(", {} path", name_of(place.path));
  return fmt::format("{} on {}{}", place.model, place.mesh, path);
}

void Bites::add(const CheckedPlace& place) {
  ++cases;
  add_once(models, place.model);
  add_once(meshes, place.mesh);
  if (place.path != MoePath::none) add_once(paths, place.path);
}

bool Bites::has(const CheckedPlace& place) const {
  return contains(models, place.model) && contains(meshes, place.mesh) &&
         (place.path == MoePath::none || contains(paths, place.path));
}

CheckAnswer group_findings(const std::vector<CaseResult>& cases, const std::vector<Finding>& of_rules,
                           const RulePlaces& places) {
  CheckAnswer answer;
  answer.cases = static_cast<std::int64_t>(cases.size());
  for (const auto& one : cases) {
    const auto& [model, mesh, path] = one.costed.place;
    add_once(answer.models, model);
    add_once(answer.meshes, mesh);
    if (path != MoePath::none) add_once(answer.paths, path);
    answer.costed.push_back(one.costed);
    for (const auto& finding : one.findings) add(answer.findings, finding, one, places);
  }
  const auto is_costed = [&](const Finding& finding) {
    return traits_of(finding.id).misspelling &&
           std::any_of(answer.findings.begin(), answer.findings.end(), [&](const CheckedFinding& entry) {
             return entry.finding.is_like(finding) && entry.finding.rules == finding.rules;
           });
  };
  std::vector<CheckedFinding> uncosted;
  for (const auto& finding : of_rules)
    if (!is_costed(finding)) uncosted.push_back({finding, "", places.places_of(finding), {}, Standing::counts});
  std::move(uncosted.begin(), uncosted.end(), std::back_inserter(answer.findings));
  std::stable_sort(answer.findings.begin(), answer.findings.end(), comes_first);
  if (cases.empty() || !shown_case(cases).evaluation) return answer;
  answer.found = shown_case(cases).evaluation;
  answer.expected = shown_case(cases).fixed;
  return answer;
}

}  // namespace shardplan
