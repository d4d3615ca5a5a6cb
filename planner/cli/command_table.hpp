#pragma once
// The commands by name, and which of them a command line means.
#include <planner/cli/command_description.hpp>
#include <planner/cli/task.hpp>

namespace shardplan {

/// Throws HelpRequest, or InputError on an unknown command (nearest names) or bad flags. `plan` is the default: a line
/// that begins with a flag or KEY=VALUE is its.
Task read_command_line(Words words);

/// Every command with its flags, in the order of --help.
std::vector<CommandDescription> describe_commands();

}  // namespace shardplan
