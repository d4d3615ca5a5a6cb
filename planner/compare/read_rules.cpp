#include <fmt/format.h>

#include <filesystem>
#include <planner/compare/read_rules.hpp>
#include <shardplan/error.hpp>

namespace shardplan {

LinedRules read_lined_rules(const std::string& name_or_path) {
  std::error_code error;
  if (name_or_path.find(',') != name_or_path.npos && !std::filesystem::exists(name_or_path, error))
    throw InputError(fmt::format("{}: --against compares one rule set with one; several side by side are --rules {} alone",
                                 name_or_path, name_or_path));
  return load_lined_rules(name_or_path);
}

}  // namespace shardplan
