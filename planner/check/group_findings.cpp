#include <fmt/format.h>

#include <iterator>
#include <planner/check/group_findings.hpp>
#include <planner/check/rule_set_findings.hpp>

namespace shardplan {
namespace {

template <class Item>
void add_once(std::vector<Item>& list, const Item& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

std::string path_words(MoePath path) { return path == MoePath::none ? "" : fmt::format(", {} path", name_of(path)); }

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
    entry.worst = in.model + " on " + in.mesh + path_words(in.path);
    entry.rules = places.places_of(finding);
  }
  ++entry.bites.cases;
  add_once(entry.bites.models, in.model);
  add_once(entry.bites.meshes, in.mesh);
  if (in.path != MoePath::none) add_once(entry.bites.paths, in.path);
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

std::string words_of(MoePath path) { return std::string(path == MoePath::none ? "" : name_of(path)); }

CheckAnswer group_findings(const std::vector<CaseResult>& cases, const std::vector<Finding>& of_rules,
                           const RulePlaces& places) {
  CheckAnswer answer;
  answer.cases = static_cast<std::int64_t>(cases.size());
  for (const auto& one : cases) {
    add_once(answer.models, one.model);
    add_once(answer.meshes, one.mesh);
    if (one.path != MoePath::none) add_once(answer.paths, one.path);
    answer.costed.push_back({one.model, one.mesh, words_of(one.path), one.tokens, one.step, one.moved});
    for (const auto& finding : one.findings) add(answer.findings, finding, one, places);
  }
  const auto is_costed = [&](const Finding& finding) {
    return is_misspelling(finding.id) &&
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
