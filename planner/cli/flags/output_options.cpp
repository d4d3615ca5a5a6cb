#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <planner/cli/flags/flag_values.hpp>
#include <planner/cli/flags/output_options.hpp>
#include <shardplan/error.hpp>
#include <string_view>

namespace shardplan {
namespace {

bool terminal_wants_colours() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) == 1 && (!no_color || !*no_color) && (!terminal || std::string_view(terminal) != "dumb");
}

std::optional<std::size_t> width_in_environment() {
  const char* text = std::getenv("COLUMNS");
  if (!text) return std::nullopt;
  std::size_t width = 0;
  const char* const end = text + std::string_view(text).size();
  const auto [stop, error] = std::from_chars(text, end, width);
  return error == std::errc() && stop == end && width > 0 ? std::optional(width) : std::nullopt;
}

/// COLUMNS where it is set, else the terminal that the answer goes to; a file and a pipe have no width of their own.
std::size_t width_of(const OutputOptions& options) {
  if (const auto width = width_in_environment()) return *width;
  winsize size{};
  const bool is_terminal = !options.file && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_terminal ? size.ws_col : usual_width;
}

Format parse_format(const std::string& name) {
  constexpr std::pair<std::string_view, Format> formats[] = {
      {"text", Format::text}, {"json", Format::json}, {"markdown", Format::markdown}, {"html", Format::html},
      {"csv", Format::csv},   {"sarif", Format::sarif}, {"github", Format::github}};
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

std::vector<std::string> color_words() { return {"auto", "always", "never"}; }

Format format_of(const OutputOptions& options) {
  check_word("--format", options.format, options.formats);
  return parse_format(options.format);
}

Style style_of(const OutputOptions& options) {
  check_word("--color", options.color, color_words());
  const bool coloured =
      options.color == "always" || (options.color == "auto" && !options.file && terminal_wants_colours());
  const std::size_t width = width_of(options);
  return coloured ? Style::coloured(width) : Style::plain(width);
}

}  // namespace shardplan
