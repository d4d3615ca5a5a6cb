#pragma once
// --as FORM: the run alone, in the words of one program.
#include <optional>
#include <planner/cli/parse_words.hpp>
#include <planner/report/text/run_forms.hpp>
#include <string>

namespace shardplan {

void add_form_flag(CommandParser& parser, std::optional<std::string>& form);

/// Throws InputError on an unknown form.
std::optional<RunForm> read_form(const std::optional<std::string>& form);

/// A run is text. Throws InputError with --format json, which has `commands`.
void check_form(std::optional<RunForm> form, Format format);

}  // namespace shardplan
