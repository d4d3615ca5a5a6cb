#include <fmt/format.h>
#include <fmt/ranges.h>

#include <planner/cli/help.hpp>
#include <planner/report/shell_command.hpp>
#include <planner/report/wrap.hpp>
#include <sstream>
#include <string_view>

namespace shardplan {
namespace {

constexpr std::size_t flag_column = 34, least_right = 24, narrow_indent = 6;

/// Words as they are typed, quotes and all.
ShellWords typed_words(const std::string& line) {
  ShellWords words(1);
  bool in_quotes = false;
  for (const char c : line) {
    if (c == '\'' || c == '"') in_quotes = !in_quotes;
    if (c == ' ' && !in_quotes)
      words.emplace_back();
    else
      words.back() += c;
  }
  return words;
}

std::string name_and_value(const FlagDescription& flag) {
  std::string text = fmt::format("{}", fmt::join(flag.names, ","));
  if (!flag.type.empty()) text += " " + flag.type;
  return flag.repeats ? text + " ..." : text;
}

std::string usage(const CommandDescription& command, const std::string& name, std::size_t width) {
  std::string words = "[OPTIONS]";
  for (const FlagDescription& flag : command.flags)
    if (flag.positional) words += fmt::format(" [{}{}]", flag.names.back(), flag.repeats ? "..." : "");
  return wrap_text(words, fmt::format("Usage: {} ", name), width);
}

std::string entries(const CommandDescription& command, bool positional, std::string_view title, std::size_t width) {
  std::string text;
  for (const FlagDescription& flag : command.flags)
    if (flag.positional == positional) text += help_entry(name_and_value(flag), flag.help, flag_column, width);
  return text.empty() ? text : fmt::format("\n{}:\n{}", title, text);
}

std::string commented(const std::string& text, std::size_t width) {
  constexpr std::string_view sign = "  # ";
  std::istringstream wrapped(wrap_text(text, "", width - sign.size()));
  std::string lines;
  for (std::string line; std::getline(wrapped, line);) lines += fmt::format("{}{}\n", sign, line);
  return lines;
}

}  // namespace

std::string help_entry(const std::string& left, const std::string& right, std::size_t column, std::size_t width) {
  if (column + least_right > width)
    return wrap_text(left, "  ", width) + wrap_text(right, std::string(narrow_indent, ' '), width);
  const std::string first = "  " + left;
  if (display_width(first) < column)
    return wrap_text(right, first + std::string(column - display_width(first), ' '), width);
  return first + "\n" + wrap_text(right, std::string(column, ' '), width);
}

std::string help_examples(const std::vector<Example>& examples, std::size_t width) {
  std::string text = "\nExamples:\n";
  for (const auto& [line, what] : examples)
    text += commented(what, width) + in_lines(typed_words(line), 2, width);
  return text;
}

std::string help_of(const CommandDescription& command, const std::string& name, std::size_t width) {
  std::string text = wrap_text(command.summary, "", width) + usage(command, name, width);
  text += entries(command, true, "Positionals", width) + entries(command, false, "Options", width);
  if (!command.footer.empty()) text += "\n" + wrap_text(command.footer, "", width);
  return command.examples.empty() ? text : text + help_examples(command.examples, width);
}

}  // namespace shardplan
