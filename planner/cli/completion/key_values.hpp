#pragma once
// MaxText's arguments for shells: which keys a command reads, and what can stand behind `=`, where that is a few words.
#include <planner/cli/command_description.hpp>
#include <string>
#include <vector>

namespace shardplan {

/// Whether it takes KEY=VALUE words.
bool takes_keys(const FlagDescription& flag);

/// "remat_policy=", of those that make a difference; a search decides the mesh, and has flags for some.
std::vector<std::string> keys_of(const CommandDescription& command);

struct KeyValues {
  std::string key;
  std::vector<std::string> values;
};
/// Of every key whose values are known words.
std::vector<KeyValues> values_by_key();

}  // namespace shardplan
