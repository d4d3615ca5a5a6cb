#pragma once
// A MaxText YAML file as arguments: its flat keys in file order. The keys that concern sharding rules are left to
// rules/load_rules.hpp (load_rule_changes).
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shardplan {

/// In a YAML file in place of a model's name: the command line has it. MaxText has no such model, and stops where it hasn't.
inline constexpr std::string_view model_of_command_line = "given-on-the-command-line";

/// Throws InputError on a file that can't be read or parsed, or a value that is a mapping.
std::vector<std::pair<std::string, std::string>> read_config_file(const std::string& path);

}  // namespace shardplan
