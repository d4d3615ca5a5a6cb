#include <fmt/format.h>

#include <array>
#include <formats/strict_json.hpp>
#include <arguments/words/config_file.hpp>
#include <rules/yaml_document.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

bool concerns_rules(const std::string& key) {
  constexpr std::array keys = {"logical_axis_rules", "override_logical_axis_rules", "mesh_axes", "data_sharding",
                               "logical_axis_rules_for_eval"};
  for (const auto* name : keys)
    if (key == name) return true;
  return false;
}

// A list as MaxText's command line writes it: [a,b].
std::string value_text(const YAML::Node& value, const std::string& path, const std::string& key) {
  if (value.IsNull()) return "";
  if (value.IsScalar()) return value.Scalar();
  if (!value.IsSequence()) {
    if (value.size() == 0) return "";
    throw InputError(fmt::format("{}: {}: expected a value or a list, not a mapping", path, key));
  }
  std::string text;
  for (const auto& item : value) text += fmt::format("{}{}", text.empty() ? "" : ",", value_text(item, path, key));
  return "[" + text + "]";
}

}  // namespace

std::vector<std::pair<std::string, std::string>> read_config_file(const std::string& path) {
  const YAML::Node document = parse_yaml(read_file(path), path);
  if (!document.IsMap()) throw InputError(fmt::format("{}: expected MaxText keys and values", path));
  std::vector<std::pair<std::string, std::string>> arguments;
  for (const auto& entry : document) {
    const auto key = entry.first.as<std::string>();
    if (!concerns_rules(key)) arguments.emplace_back(key, value_text(entry.second, path, key));
  }
  return arguments;
}

}  // namespace shardplan
