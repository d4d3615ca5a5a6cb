#pragma once
// What can stand behind a flag, for shells.
#include <planner/cli/command_description.hpp>
#include <string>
#include <vector>

namespace shardplan {

struct CompletedValues {
  std::vector<std::string> words;  ///< sorted as the commands that list them
  bool files = false;              ///< files too
  bool list = false;               ///< several, with commas between
  bool keys = false;               ///< words go on behind their `=`: key_values.hpp
  bool empty() const { return words.empty() && !files; }
};

/// `command` is the flag's.
CompletedValues values_of(const CommandDescription& command, const FlagDescription& flag);

}  // namespace shardplan
