#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <formats/strict_json.hpp>
#include <planner/compare/read_rules.hpp>
#include <rules/load_rules.hpp>
#include <rules/rule_lines.hpp>
#include <shardplan/error.hpp>

namespace shardplan {

LinedRules read_lined_rules(const std::string& name_or_path) {
  std::error_code error;
  if (name_or_path.find(',') != name_or_path.npos && !std::filesystem::exists(name_or_path, error))
    throw InputError(fmt::format("{}: --against compares one rule set with one; several side by side are --rules {} alone",
                                 name_or_path, name_or_path));
  const auto names = rule_set_names();
  const bool built_in = std::find(names.begin(), names.end(), name_or_path) != names.end();
  RuleSet set = load_rules(name_or_path);
  return {std::move(set), rule_lines(built_in ? rules_yaml(name_or_path) : read_file(name_or_path), name_or_path)};
}

}  // namespace shardplan
