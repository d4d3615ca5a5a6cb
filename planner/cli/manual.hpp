#pragma once
// The manual page, made from the commands themselves.
#include <planner/cli/command_description.hpp>
#include <string>
#include <vector>

namespace shardplan {

/// roff, for `man -l`.
std::string manual_page(const std::vector<CommandDescription>& commands, const std::string& version);

}  // namespace shardplan
