#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <planner/cli/flag_values.hpp>
#include <planner/cli/output_options.hpp>
#include <shardplan/error.hpp>
#include <string_view>

namespace shardplan {
namespace {

bool terminal_wants_colours() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) == 1 && (!no_color || !*no_color) && (!terminal || std::string_view(terminal) != "dumb");
}

/// "text and json", "text, json, sarif and github"
std::string in_words(const std::vector<std::string>& names) {
  return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

std::vector<std::string> known_formats(const OutputOptions& options) {
  std::vector<std::string> known = {"text", "json", "markdown", "html"};
  for (const auto& format : options.formats)
    if (std::find(known.begin(), known.end(), format) == known.end()) known.push_back(format);
  return known;
}

Format parse_format(const std::string& name) {
  constexpr std::pair<std::string_view, Format> formats[] = {
      {"text", Format::text}, {"json", Format::json}, {"sarif", Format::sarif}, {"github", Format::github}};
  for (const auto& [word, format] : formats)
    if (word == name) return format;
  throw InternalError("a format without a value: " + name);
}

}  // namespace

void add_output_options(CLI::App& parser, OutputOptions& options) {
  parser.add_option("--format", options.format, "text or json")->type_name("FORMAT");
  parser.add_option("-o,--output", options.file, "Write the answer to FILE, whole or not at all")->type_name("FILE");
  parser.add_option("--color", options.color, "auto, always or never")->type_name("WHEN");
}

Format format_of(const OutputOptions& options) {
  check_word("--format", options.format, known_formats(options));
  if (std::find(options.formats.begin(), options.formats.end(), options.format) == options.formats.end())
    throw InputError(
        fmt::format("--format {} is not available yet; {} are", options.format, in_words(options.formats)));
  return parse_format(options.format);
}

Style style_of(const OutputOptions& options) {
  check_word("--color", options.color, {"auto", "always", "never"});
  const bool coloured =
      options.color == "always" || (options.color == "auto" && !options.file && terminal_wants_colours());
  return coloured ? Style::coloured() : Style::plain();
}

}  // namespace shardplan
