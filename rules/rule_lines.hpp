#pragma once
// Where the rules of a file stand, for messages that point at them.
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

/// The line, from 1, of every entry of logical_axis_rules, in their order. Throws InputError on malformed YAML; empty
/// when the text has no such list.
std::vector<int> rule_lines(std::string_view yaml, const std::string& file);

}  // namespace shardplan
