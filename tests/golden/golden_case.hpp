#pragma once
// A recorded command line: tests/golden/NAME/{arguments,environment,stdout,stderr,exit}.
#include <string>
#include <tests/golden/run_program.hpp>
#include <vector>

namespace shardplan {

/// The folders of `cases` that have a file `arguments`, alphabetical.
std::vector<std::string> case_names(const std::string& cases);

/// `arguments`: one a line, so that none needs quoting; an empty line is an empty argument.
std::vector<std::string> read_lines(const std::string& path);

/// What was recorded; a missing stdout or stderr is empty, a missing exit is 0.
ProgramRun read_recorded(const std::string& folder);
/// Empty outputs and exit code 0 have no file.
void write_recorded(const std::string& folder, const ProgramRun& run);

/// Without what differs from run to run: the values of "search_seconds".
std::string comparable(const std::string& text);

}  // namespace shardplan
