#include <fmt/format.h>
#include <unistd.h>

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

}  // namespace

void add_output_options(CLI::App& parser, OutputOptions& options) {
  parser.add_option("--format", options.format, "text or json")->type_name("FORMAT");
  parser.add_option("-o,--output", options.file, "Write the answer to FILE, whole or not at all")->type_name("FILE");
  parser.add_option("--color", options.color, "auto, always or never")->type_name("WHEN");
}

Format format_of(const OutputOptions& options) {
  check_word("--format", options.format, {"text", "json", "markdown", "html"});
  if (options.format == "text") return Format::text;
  if (options.format == "json") return Format::json;
  throw InputError(fmt::format("--format {} is not available yet; text and json are", options.format));
}

Style style_of(const OutputOptions& options) {
  check_word("--color", options.color, {"auto", "always", "never"});
  const bool coloured =
      options.color == "always" || (options.color == "auto" && !options.file && terminal_wants_colours());
  return coloured ? Style::coloured() : Style::plain();
}

}  // namespace shardplan
