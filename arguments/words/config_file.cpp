#include <fmt/format.h>

#include <algorithm>
#include <arguments/words/config_file.hpp>
#include <array>
#include <filesystem>
#include <formats/strict_json.hpp>
#include <optional>
#include <rules/load_rules.hpp>
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

std::optional<std::string> base_of(const YAML::Node& document, const std::string& path) {
  const YAML::Node base = document["base_config"];
  if (!base) return std::nullopt;
  const std::filesystem::path name = value_text(base, path, "base_config");
  const auto beside = std::filesystem::path(path).parent_path() / name;  // an absolute name stays as it is
  if (std::error_code none; std::filesystem::is_regular_file(beside, none)) return beside.string();
  if (name.filename() == "base.yml") return std::nullopt;
  throw InputError(fmt::format("{}: base_config={}: no such file beside it; of MaxText's own only base.yml is known", path,
                               name.string()));
}

ModelRules over(ModelRules rules, const YAML::Node& document, const std::string& text, const std::string& path) {
  const ModelRules own = parse_rule_changes(text, path);
  if (document["logical_axis_rules"]) {
    rules.rules = own.rules;
    rules.override_rules = true;
  }
  if (!own.mesh_axes.empty()) rules.mesh_axes = own.mesh_axes;
  if (!own.data_sharding.empty()) rules.data_sharding = own.data_sharding;
  return rules;
}

/// `above`: the files that led here, each over the next.
ConfigFile read(const std::string& path, std::vector<std::string> above) {
  if (std::find(above.begin(), above.end(), path) != above.end())
    throw InputError(fmt::format("{}: base_config leads back to this file", path));
  above.push_back(path);
  const std::string text = read_file(path);
  const YAML::Node document = parse_yaml(text, path);
  if (!document.IsMap()) throw InputError(fmt::format("{}: expected MaxText keys and values", path));
  const auto base = base_of(document, path);
  ConfigFile file = base ? read(*base, std::move(above)) : ConfigFile{};
  for (const auto& entry : document) {
    const auto key = entry.first.as<std::string>();
    if (concerns_rules(key) || key == "base_config") continue;
    std::erase_if(file.entries, [&](const ConfigEntry& below) { return below.key == key; });
    file.entries.push_back({key, value_text(entry.second, path, key), path});
  }
  file.rules = over(std::move(file.rules), document, text, path);
  if (document["logical_axis_rules"]) file.rules_path = path;
  return file;
}

}  // namespace

ConfigFile read_config_file(const std::string& path) { return read(path, {}); }

}  // namespace shardplan
