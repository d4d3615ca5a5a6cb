#include <formats/named_value.hpp>
#include <formats/strict_json.hpp>
#include <planner/check/read_baseline.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

using Json = nlohmann::json;

Severity read_severity(StrictObject& object, const std::string& key) {
  const std::string name = object.text(key);
  for (const Severity severity : {Severity::note, Severity::warning, Severity::error})
    if (name == name_of(severity)) return severity;
  object.fail(key, "note, warning or error");
}

std::vector<std::string> texts_or_none(StrictObject& object, const std::string& key) {
  return object.has(key) ? object.texts(key) : std::vector<std::string>{};
}

std::vector<Rule> read_rules(StrictObject& object) {
  std::vector<Rule> rules;
  if (!object.has("rules")) return rules;
  for (const auto& json : object.array("rules")) {
    StrictObject rule(json, object.where() + ": rules");
    rules.push_back({rule.text("logical"), rule.texts("axes")});
  }
  return rules;
}

Places read_places(StrictObject& object) {
  return {texts_or_none(object, "models"), texts_or_none(object, "meshes"), texts_or_none(object, "moe_paths")};
}

KnownFinding read_finding(const Json& json, const std::string& path) {
  StrictObject object(json, path + ": findings");
  return {object.text("id"), read_severity(object, "severity"), read_rules(object), read_places(object)};
}

KnownFinding read_result(const Json& json, const std::string& path) {
  StrictObject object(json, path + ": results");
  StrictObject properties = object.object("properties");
  return {object.text("ruleId"), read_severity(object, "level"), read_rules(properties), read_places(properties)};
}

/// A list, which print_with_costed writes: hundreds of them are to be read.
CheckedCase read_case(const Json& json, const std::string& path) {
  const bool is_case = json.is_array() && json.size() == 6 && json[0].is_string() && json[1].is_string() &&
                       json[2].is_string() && json[3].is_number() && json[4].is_number() && json[5].is_number();
  const double numbers[] = {is_case ? json[3].get<double>() : -1, is_case ? json[4].get<double>() : -1,
                            is_case ? json[5].get<double>() : -1};
  for (const double number : numbers)
    if (!(number >= 0 && number < 9e18))
      throw InputError(path + ": costed: expected lists of a model, a mesh, a path, tokens, seconds and bytes");
  const MoePath through = enumerator_named(all_moe_paths, "path", json[2].get<std::string>(), path + ": costed");
  return {{json[0].get<std::string>(), json[1].get<std::string>(), through},
          static_cast<std::int64_t>(numbers[0]),
          {numbers[1]},
          {static_cast<std::int64_t>(numbers[2])}};
}

template <class Read>
Baseline read_findings(StrictObject& list, const std::string& key, StrictObject scope, const std::string& path, Read read) {
  Baseline baseline;
  baseline.looked_at = {scope.texts("models"), scope.texts("meshes"), texts_or_none(scope, "moe_paths")};
  baseline.has_rules_of_worst_place = !scope.has("moe_paths");
  if (scope.has("costed")) {
    baseline.hardware = scope.text("hardware");
    baseline.arguments = scope.texts("arguments");
    for (const auto& json : scope.array("costed")) baseline.costed.push_back(read_case(json, path));
  }
  for (const auto& json : list.array(key)) baseline.findings.push_back(read(json, path));
  return baseline;
}

[[noreturn]] void refuse(const std::string& path) {
  throw InputError(path + ": expected what `shardplan check` wrote with --format json or sarif");
}

Baseline read_sarif(StrictObject& log, const std::string& path) {
  const Json& runs = log.array("runs");
  if (runs.size() != 1) log.fail("runs", "the one run of a shardplan check");
  StrictObject run(runs.front(), path + ": runs");
  StrictObject properties = run.object("properties");
  if (properties.has("command") && properties.text("command") != "check") refuse(path);
  return read_findings(run, "results", std::move(properties), path, read_result);
}

}  // namespace

Baseline read_baseline(const std::string& path) {
  const Json json = parse_json(read_file(path), path);
  StrictObject document(json, path);
  if (document.has("runs")) return read_sarif(document, path);
  if (!document.has("command") || document.text("command") != "check")
    refuse(path);
  return read_findings(document, "findings", document, path, read_finding);
}

}  // namespace shardplan
