#include <fmt/format.h>
#include <fmt/ranges.h>

#include <formats/print_json.hpp>
#include <planner/report/check_report.hpp>
#include <planner/report/json/json_check.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

OrderedJson json_rules(const std::vector<RulePlace>& rules) {
  OrderedJson all = OrderedJson::array();
  for (const auto& place : rules)
    all.push_back({{"logical", place.rule.logical}, {"axes", place.rule.axes}, {"line", place.line}});
  return all;
}

OrderedJson json_under_flags(const CostUnderFlags& cost) {
  return {{"flags", cost.flags},
          {"source", cost.source},
          {"step_seconds", json_number((cost.step - cost.fixed_step).value, "step_seconds")}};
}

OrderedJson json_cost(const FindingCost& cost, const std::vector<CostUnderFlags>& under_flags) {
  OrderedJson others = OrderedJson::array();
  for (const CostUnderFlags& other : under_flags) others.push_back(json_under_flags(other));
  return {{"bytes", cost.bytes.value},
          {"collective_seconds", json_number(cost.collectives.value, "collective_seconds")},
          {"step_seconds", json_number(cost.step.value, "step_seconds")},
          {"under_flags", std::move(others)}};
}

OrderedJson json_finding(const CheckedFinding& checked) {
  const Finding& finding = checked.finding;
  OrderedJson json = {{"id", published_id(finding)},
                      {"severity", name_of(finding.severity)},
                      {"standing", name_of(checked.standing)},
                      {"message", finding.message},
                      {"where", finding.where},
                      {"axis", join_axes(finding.axes)},
                      {"fix", finding.fix},
                      {"rules", json_rules(checked.rules)}};
  if (finding.cost) json["cost"] = json_cost(*finding.cost, finding.under_flags);
  if (checked.bites.cases > 0) json["worst"] = checked.worst;
  json["configurations"] = checked.bites.cases;
  json["models"] = checked.bites.models;
  json["meshes"] = checked.bites.meshes;
  json["moe_paths"] = names_of(checked.bites.paths);
  return json;
}

/// To four digits, which say whether it became slower.
std::string costed_line(const CheckedCase& one) {
  const auto& [model, mesh, path] = one.place;
  return fmt::format("[{}, {}, \"{}\", {}, {:.4g}, {:.4g}]", print_json(OrderedJson(model)), print_json(OrderedJson(mesh)),
                     name_of(path), one.tokens, one.step.value, static_cast<double>(one.moved.value));
}

OrderedJson collectives_of(const std::optional<Evaluation>& evaluation) {
  return evaluation ? json_evaluation(*evaluation)["collectives"] : OrderedJson::array();
}

}  // namespace

OrderedJson costed_here() { return "here"; }

std::string print_with_costed(const OrderedJson& document, const CheckAnswer& answer) {
  std::string text = print_document(document);
  const std::string key = "\"costed\": ", value = costed_here().dump();
  const std::size_t at = text.find(key + value);
  if (at == std::string::npos) throw InternalError("a document without a place for \"costed\"");
  const std::string indent(at - text.rfind('\n', at) - 1, ' ');
  std::vector<std::string> lines;
  for (const CheckedCase& one : answer.costed) lines.push_back("\n" + indent + " " + costed_line(one));
  return text.replace(at + key.size(), value.size(), fmt::format("[{}\n{}]", fmt::join(lines, ","), indent));
}

std::string check_json(const CheckAnswer& answer) {
  OrderedJson findings = OrderedJson::array();
  for (const auto& checked : answer.findings) findings.push_back(json_finding(checked));
  const auto& expected = answer.expected ? answer.expected : answer.found;
  OrderedJson document = {{"schema_version", schema_version},
                          {"command", "check"},
                          {"rules", answer.rules},
                          {"hardware", answer.hardware},
                          {"models", answer.models},
                          {"meshes", answer.meshes},
                          {"moe_paths", names_of(answer.paths)},
                          {"configurations", answer.cases},
                          {"arguments", answer.arguments},
                          {"costed", costed_here()},
                          {"findings", std::move(findings)},
                          {"collectives", collectives_of(answer.found)},
                          {"expected", collectives_of(expected)},
                          {"verdict", answer.is_regression() ? "regression" : "ok"}};
  if (!answer.not_compared.empty()) document["steps_not_compared"] = answer.not_compared;
  return print_with_costed(document, answer);
}

}  // namespace shardplan
