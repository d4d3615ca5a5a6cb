#pragma once
// The keys of a MaxText configuration file that concern sharding rules, checked for form. Private to this room.
#include <shardplan/mesh/sharding.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

struct RuleFile {
  std::vector<std::string> mesh_axes;      ///< empty: the file has none
  std::vector<Rule> rules;                 ///< empty: likewise
  std::vector<std::string> data_sharding;  ///< empty: likewise
  bool override_rules = false;
  std::vector<std::string> other_keys;  ///< those that no custom_mesh_and_rule file has
};

/// Throws InputError (file, line, what was expected) on malformed YAML, a wrong form or a key that looks misspelt.
RuleFile read_rule_file(std::string_view yaml, const std::string& file);

/// Throws InputError when the file has no rules, with the key that was perhaps meant.
void require_rules(const RuleFile& content, const std::string& file);

}  // namespace shardplan
