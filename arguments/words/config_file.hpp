#pragma once
// A MaxText YAML file: its flat keys as arguments, and its rules. As MaxText loads it (configs/pyconfig.py, _load_config),
// over the file that base_config names; a value, list or not, replaces the one of the file below.
#include <shardplan/model.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

/// In a YAML file in place of a model's name: the command line has it. MaxText has no such model, and stops where it hasn't.
inline constexpr std::string_view model_of_command_line = "given-on-the-command-line";

struct ConfigEntry {
  std::string key, value;
  std::string path;  ///< of the file that says it: this one, or one below
};

struct ConfigFile {
  std::vector<ConfigEntry> entries;  ///< each key once; without those of rules
  /// In place of base.yml's. `override_rules` where there is a list at all: override_logical_axis_rules in a file changes
  /// nothing, MaxText looks for it in the model's file and on the command line.
  ModelRules rules;
  std::string rules_path;  ///< of the file whose list that is; "" where none has one
};

/// base_config is a path from this file's folder, or base.yml, MaxText's own; so is what says nothing of it. Throws
/// InputError on a file that can't be found, read or parsed, or a value that is a mapping.
ConfigFile read_config_file(const std::string& path);

}  // namespace shardplan
