#include <rules/rule_lines.hpp>
#include <rules/yaml_document.hpp>

namespace shardplan {

std::vector<int> rule_lines(std::string_view yaml, const std::string& file) {
  const YAML::Node root = parse_yaml(yaml, file);
  std::vector<int> lines;
  if (!root.IsMap()) return lines;
  for (const auto& entry : root["logical_axis_rules"]) lines.push_back(entry.Mark().line + 1);
  return lines;
}

}  // namespace shardplan
