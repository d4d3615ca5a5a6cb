#pragma once
// --help, in lines that keep to the width of what they are shown on.
#include <planner/cli/command_description.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace shardplan {

/// "  left      right": what is too long runs on below itself. `column` is where the right part begins; where that leaves it
/// no room, it stands below the left one.
std::string help_entry(const std::string& left, const std::string& right, std::size_t column, std::size_t width);

/// Words for words, with a line for each example and another for what it is for.
std::string help_examples(const std::vector<Example>& examples, std::size_t width);

/// Of one command: `name` is what is typed for it, "shardplan explain".
std::string help_of(const CommandDescription& command, const std::string& name, std::size_t width);

}  // namespace shardplan
