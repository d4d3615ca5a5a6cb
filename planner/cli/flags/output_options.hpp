#pragma once
// --format, -o, --color: the flags that every command has.
#include <CLI/CLI.hpp>
#include <optional>
#include <planner/cli/task.hpp>
#include <string>
#include <vector>

namespace shardplan {

struct OutputOptions {
  std::string format = "text";
  std::string color = "auto";
  std::optional<std::string> file;
  std::vector<std::string> formats = {"text", "json"};  ///< those that the command can answer in
};

void add_output_options(CLI::App& parser, OutputOptions& options);

/// What --color can be.
std::vector<std::string> color_words();

/// Throws InputError on an unknown format, or one that the command has not.
Format format_of(const OutputOptions& options);

/// Colours when they are asked for, or when the answer goes to a terminal that wants them (no-color.org); as wide as
/// COLUMNS or the terminal says.
Style style_of(const OutputOptions& options);

}  // namespace shardplan
