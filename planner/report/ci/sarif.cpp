#include <planner/report/check_report.hpp>
#include <planner/report/json/json_values.hpp>
#include <planner/report/ci/sarif.hpp>

namespace shardplan {
namespace {

constexpr const char* sarif_schema = "https://json.schemastore.org/sarif-2.1.0.json";

OrderedJson text(const std::string& words) { return {{"text", words}}; }

/// "expert-axis-stolen" → "expert axis stolen"
std::string title_of(std::string_view id) {
  std::string title(id);
  std::replace(title.begin(), title.end(), '-', ' ');
  return title;
}

OrderedJson rule_descriptors(const CheckAnswer& answer) {
  OrderedJson all = OrderedJson::array();
  std::vector<std::string_view> seen;
  for (const auto& [finding, worst, rules, bites] : answer.findings) {
    const std::string_view id = published_id(finding);
    if (std::find(seen.begin(), seen.end(), id) != seen.end()) continue;
    seen.push_back(id);
    all.push_back({{"id", id}, {"shortDescription", text(title_of(id))}});
  }
  return all;
}

OrderedJson physical_location(const std::string& file, int line) {
  return {
      {"physicalLocation", {{"artifactLocation", {{"uri", file}}}, {"region", {{"startLine", std::max(1, line)}}}}}};
}

OrderedJson locations_of(const CheckedFinding& checked, const CheckAnswer& answer) {
  OrderedJson all = OrderedJson::array();
  if (answer.rules_are_file) {
    for (const auto& place : checked.rules)
      if (place.line > 0) all.push_back(physical_location(answer.rules, place.line));
    if (all.empty()) all.push_back(physical_location(answer.rules, 1));
  } else {
    all.push_back({{"logicalLocations", {{{"name", answer.rules}, {"kind", "resource"}}}}});
  }
  return all;
}

std::string message_of(const CheckedFinding& checked) {
  std::string words = checked.finding.message;
  if (!checked.worst.empty()) words = checked.worst + ": " + words;
  return checked.finding.fix.empty() ? words : words + ". Fix: " + checked.finding.fix;
}

OrderedJson result_of(const CheckedFinding& checked, const CheckAnswer& answer) {
  return {{"ruleId", published_id(checked.finding)},
          {"level", name_of(checked.finding.severity)},  // SARIF has the same words
          {"message", text(message_of(checked))},
          {"locations", locations_of(checked, answer)},
          {"properties", {{"models", checked.bites.models}, {"meshes", checked.bites.meshes}}}};
}

}  // namespace

std::string check_sarif(const CheckAnswer& answer) {
  OrderedJson results = OrderedJson::array();
  for (const auto& checked : answer.findings) results.push_back(result_of(checked, answer));
  const OrderedJson driver = {{"name", "shardplan"}, {"rules", rule_descriptors(answer)}};
  OrderedJson run = {{"tool", {{"driver", driver}}}, {"results", std::move(results)}};
  OrderedJson runs = OrderedJson::array();
  runs.push_back(std::move(run));
  return print_document({{"$schema", sarif_schema}, {"version", "2.1.0"}, {"runs", std::move(runs)}});
}

}  // namespace shardplan
