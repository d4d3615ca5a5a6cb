#pragma once
// Values that no plan knows and whoever starts the run sets: a tokenizer, a token.
#include <optional>
#include <string>
#include <string_view>

namespace shardplan {

/// As a shell fills it in, or stops where it isn't set: "${TOKENIZER_PATH?}".
std::string readers_value(std::string_view variable);

/// The variable of such a value; empty of any other.
std::optional<std::string> readers_variable(std::string_view value);

/// What was said of a key, as answers may carry it: of a credential the variable that its topic names, whatever it was.
std::string shown_value(const std::string& key, std::string text);

}  // namespace shardplan
