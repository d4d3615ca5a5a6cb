#pragma once
// JSON as text. Strings may be what a user typed or a file's name, which are any bytes; JSON is UTF-8 alone, so that
// other bytes are written as messages show them: "h\xff.json".
#include <nlohmann/json.hpp>
#include <string>

namespace shardplan {

/// In lines indented by `indent` blanks; in one line where it is negative.
std::string print_json(const nlohmann::json& document, int indent = -1);
std::string print_json(const nlohmann::ordered_json& document, int indent = -1);

}  // namespace shardplan
