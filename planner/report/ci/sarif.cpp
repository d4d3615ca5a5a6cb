#include <fmt/format.h>

#include <algorithm>
#include <formats/fingerprint.hpp>
#include <planner/report/check_report.hpp>
#include <planner/report/ci/sarif.hpp>
#include <planner/report/ci/source_place.hpp>
#include <planner/report/json/json_check.hpp>
#include <planner/words/finding_words.hpp>

namespace shardplan {
namespace {

constexpr const char* sarif_schema = "https://json.schemastore.org/sarif-2.1.0.json";
/// What logical axes, mesh axes and rules are, in MaxText's own words.
constexpr const char* sharding_guide = "https://maxtext.readthedocs.io/en/latest/guides/optimization/sharding.html";

OrderedJson text(std::string_view words) { return {{"text", words}}; }

/// "expert-axis-stolen" → "expert axis stolen"
std::string title_of(std::string_view id) {
  std::string title(id);
  std::replace(title.begin(), title.end(), '-', ' ');
  return title;
}

bool is_shown(const CheckedFinding& checked) { return checked.standing != Standing::ignored; }

/// The published ids, each once, in the order of their first results.
std::vector<const Finding*> first_of_each_id(const CheckAnswer& answer) {
  std::vector<const Finding*> first;
  for (const auto& checked : answer.findings) {
    const auto is_known = [&](const Finding* known) { return published_id(*known) == published_id(checked.finding); };
    if (is_shown(checked) && std::none_of(first.begin(), first.end(), is_known)) first.push_back(&checked.finding);
  }
  return first;
}

OrderedJson rule_descriptor(const Finding& finding) {
  const auto [what, fix] = words_of(finding.id);
  const std::string help = fix.empty() ? std::string(what) : fmt::format("{} What helps: {}", what, fix);
  const std::string_view id = published_id(finding);
  return {{"id", id},
          {"name", id},
          {"shortDescription", text(title_of(id))},
          {"fullDescription", text(what)},
          {"help", {{"text", help}, {"markdown", fmt::format("**{}**\n\n{}", title_of(id), help)}}},
          {"helpUri", sharding_guide},
          {"defaultConfiguration", {{"level", name_of(finding.severity)}}},
          {"properties", {{"tags", {"sharding", "performance"}}, {"problem.severity", name_of(finding.severity)}}}};
}

OrderedJson physical_location(const std::string& uri, int line) {
  return {{"physicalLocation",
           {{"artifactLocation", {{"uri", uri}, {"uriBaseId", "%SRCROOT%"}}},
            {"region", {{"startLine", std::max(1, line)}}}}}};
}

SourcePlace place_of(const CheckAnswer& answer, const std::string& folder) {
  if (answer.rules_are_file) return source_place(answer.rules, folder);
  return {fmt::format("rules/sets/{}.yml", answer.rules), true};
}

OrderedJson locations_of(const CheckedFinding& checked, const std::string& uri) {
  OrderedJson all = OrderedJson::array();
  for (const auto& place : checked.rules)
    if (place.line > 0) all.push_back(physical_location(uri, place.line));
  if (all.empty()) all.push_back(physical_location(uri, 1));
  return all;
}

std::string message_of(const CheckedFinding& checked) {
  std::string words = checked.finding.message;
  if (!checked.worst.empty()) words = checked.worst + ": " + words;
  return checked.finding.fix.empty() ? words : words + ". Fix: " + checked.finding.fix;
}

OrderedJson json_rules(const CheckedFinding& checked) {
  OrderedJson rules = OrderedJson::array();
  for (const auto& place : checked.rules)
    rules.push_back({{"logical", place.rule.logical}, {"axes", place.rule.axes}});
  return rules;
}

/// Of what makes a finding the same one tomorrow: its id and severity, the place and the rules behind it; not its
/// lines and numbers.
std::string fingerprint_of(const CheckedFinding& checked) {
  std::string same = fmt::format("{}|{}|{}", published_id(checked.finding), name_of(checked.finding.severity),
                                 checked.rules.empty() ? checked.finding.where : "");
  for (const auto& place : checked.rules) same += "|" + rule_in_yaml(place.rule);
  return fingerprint(same) + ":1";
}

OrderedJson result_of(const CheckedFinding& checked, const std::vector<const Finding*>& rules, const std::string& uri) {
  const std::string_view id = published_id(checked.finding);
  const auto rule = std::find_if(rules.begin(), rules.end(), [&](const Finding* f) { return published_id(*f) == id; });
  return {{"ruleId", id},
          {"ruleIndex", rule - rules.begin()},
          {"level", name_of(checked.finding.severity)},  // SARIF has the same words
          {"baselineState", checked.standing == Standing::known ? "unchanged" : "new"},
          {"message", text(message_of(checked))},
          {"locations", locations_of(checked, uri)},
          {"partialFingerprints", {{"primaryLocationLineHash", fingerprint_of(checked)}}},
          {"properties",
           {{"models", checked.bites.models},
            {"meshes", checked.bites.meshes},
            {"moe_paths", names_of(checked.bites.paths)},
            {"rules", json_rules(checked)}}}};
}

OrderedJson driver_of(const std::vector<const Finding*>& rules) {
  OrderedJson descriptors = OrderedJson::array();
  for (const Finding* finding : rules) descriptors.push_back(rule_descriptor(*finding));
  return {{"name", "shardplan"},
          {"version", SHARDPLAN_VERSION},
          {"semanticVersion", SHARDPLAN_VERSION},
          {"rules", std::move(descriptors)}};
}

OrderedJson invocations(const CheckAnswer& answer, const SourcePlace& place) {
  OrderedJson invocation = {{"executionSuccessful", true}};
  if (!place.is_inside)
    invocation["toolExecutionNotifications"] = OrderedJson::array(
        {{{"level", "warning"},
          {"message", text(fmt::format("{} is outside of the folder that shardplan ran in, so that code scanning can't "
                                       "show it: run it in the root of the repository",
                                       answer.rules))}}});
  return OrderedJson::array({std::move(invocation)});
}

}  // namespace

std::string check_sarif(const CheckAnswer& answer, const std::string& folder) {
  const SourcePlace place = place_of(answer, folder);
  const auto rules = first_of_each_id(answer);
  OrderedJson results = OrderedJson::array();
  for (const auto& checked : answer.findings)
    if (is_shown(checked)) results.push_back(result_of(checked, rules, place.uri));
  OrderedJson run = {{"tool", {{"driver", driver_of(rules)}}},
                     {"automationDetails", {{"id", "shardplan/" + place.uri + "/"}}},
                     {"invocations", invocations(answer, place)},
                     {"results", std::move(results)},
                     {"properties",
                      {{"command", answer.is_of_program ? "audit" : "check"},
                       {"hardware", answer.hardware},
                       {"models", answer.models},
                       {"meshes", answer.meshes},
                       {"moe_paths", names_of(answer.paths)},
                       {"arguments", answer.arguments},
                       {"costed", costed_here()}}}};
  OrderedJson runs = OrderedJson::array();
  runs.push_back(std::move(run));
  return print_with_costed({{"$schema", sarif_schema}, {"version", "2.1.0"}, {"runs", std::move(runs)}}, answer);
}

}  // namespace shardplan
