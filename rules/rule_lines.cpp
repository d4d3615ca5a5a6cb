#include <algorithm>
#include <formats/strict_json.hpp>
#include <rules/load_rules.hpp>
#include <rules/rule_lines.hpp>
#include <rules/yaml_document.hpp>
#include <shardplan/error.hpp>

namespace shardplan {

std::vector<int> rule_lines(std::string_view yaml, const std::string& file) {
  const YAML::Node root = parse_yaml(yaml, file);
  std::vector<int> lines;
  if (!root.IsMap()) return lines;
  for (const auto& entry : root["logical_axis_rules"]) lines.push_back(entry.Mark().line + 1);
  return lines;
}

LinedRules load_lined_rules(const std::string& name_or_path) {
  const auto names = rule_set_names();
  const bool is_file = std::find(names.begin(), names.end(), name_or_path) == names.end();
  RuleSet set = load_rules(name_or_path);
  auto lines = rule_lines(is_file ? read_file(name_or_path) : rules_yaml(name_or_path), name_or_path);
  if (lines.size() != set.rules.size()) throw InputError(name_or_path + ": the file has changed while it was read");
  return {std::move(set), std::move(lines), is_file};
}

}  // namespace shardplan
