#pragma once
// Names as people type them: what two spellings have in common, and what other tools call ours.
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

/// Lower-case letters and digits alone, so that "Llama-3.1-8B", "llama3.1_8b" and "LLAMA 3.1 8b" are one name.
std::string same_spelling(std::string_view name);

/// "MI355X" → "mi355x": letters of ASCII alone.
std::string lower_case(std::string_view text);

/// What this project calls things that have another name elsewhere: "ep" → "expert", "--hw" → "hardware". Leading
/// dashes don't count. For suggestions only; no name is accepted because of it.
std::vector<std::string_view> synonyms_of(std::string_view word);

/// The text, with bytes that are no UTF-8 as "\xff".
std::string as_utf8(std::string_view text);

/// Whether it has characters that end a line, or that a terminal obeys. Names that have would go on as a command of their
/// own in the commands and comments that are printed.
bool has_control_characters(std::string_view text);

/// One line that a terminal can show: control characters and bytes that are no UTF-8 as "\x1b", and no more than `most`
/// bytes of it.
std::string printable(std::string_view text, std::size_t most);

}  // namespace shardplan
