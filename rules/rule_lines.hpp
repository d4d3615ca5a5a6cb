#pragma once
// Where the rules of a file stand, for messages that point at them.
#include <shardplan/mesh/sharding.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

/// The line, from 1, of every entry of logical_axis_rules, in their order. Throws InputError on malformed YAML; empty
/// when the text has no such list.
std::vector<int> rule_lines(std::string_view yaml, const std::string& file);

/// Rules with the lines that they stand in, in order.
struct LinedRules {
  RuleSet set;
  std::vector<int> lines = {};  ///< of each rule
  bool is_file = false;         ///< no built-in set
};

/// A built-in set by name, or a file. Throws InputError as load_rules does.
LinedRules load_lined_rules(const std::string& name_or_path);

}  // namespace shardplan
