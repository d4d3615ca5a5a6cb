#pragma once
#include <planner/compare/rule_difference.hpp>
#include <string>

namespace shardplan {

/// A built-in set by name, or a file, with the line of each of its rules. Throws InputError as load_rules does.
LinedRules read_lined_rules(const std::string& name_or_path);

}  // namespace shardplan
