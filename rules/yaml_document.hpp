#pragma once
// YAML as the rule loader wants it: one document, no key twice in a mapping; every complaint names file and line.
// Private to this room: nobody else includes yaml-cpp.
#include <yaml-cpp/yaml.h>

#include <string>
#include <string_view>

namespace shardplan {

/// Parses `text`. Throws InputError on malformed YAML, a duplicate key or a second document.
YAML::Node parse_yaml(std::string_view text, const std::string& file);

/// Throws InputError "FILE:LINE: message" for the line where `node` begins.
[[noreturn]] void fail_at(const YAML::Node& node, const std::string& file, const std::string& message);

/// "a mapping", "a list of 3", "'fsdp'", "nothing": what was found instead of what was expected.
std::string found(const YAML::Node& node);

}  // namespace shardplan
