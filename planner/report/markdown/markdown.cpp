#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <planner/report/markdown/markdown.hpp>

namespace shardplan {
namespace {

/// The longest run of backticks.
std::size_t longest_ticks(std::string_view text) {
  std::size_t longest = 0, run = 0;
  for (const char c : text) longest = std::max(longest, run = c == '`' ? run + 1 : 0);
  return longest;
}

/// wi_0: an underscore within a word is no markup.
bool is_inside_word(std::string_view text, std::size_t at) {
  const auto is_word = [&](std::size_t i) { return std::isalnum(static_cast<unsigned char>(text[i])) != 0; };
  return at > 0 && at + 1 < text.size() && is_word(at - 1) && is_word(at + 1);
}

std::string line_of(const std::vector<std::string>& cells) { return fmt::format("| {} |\n", fmt::join(cells, " | ")); }

}  // namespace

std::string markdown_text(std::string_view text) {
  constexpr std::string_view special = "|<>*`\\[]";
  std::string escaped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool marks = text[i] == '_' ? !is_inside_word(text, i) : special.find(text[i]) != special.npos;
    if (marks) escaped += '\\';
    escaped += text[i] == '\n' ? ' ' : text[i];
  }
  return escaped;
}

std::string markdown_code(std::string_view text) {
  std::string inside;
  for (const char c : text) {
    if (c == '|') inside += '\\';
    inside += c == '\n' ? ' ' : c;
  }
  const std::string ticks(longest_ticks(text) + 1, '`');
  const std::string_view pad = ticks.size() > 1 ? " " : "";
  return fmt::format("{}{}{}{}{}", ticks, pad, inside, pad, ticks);
}

std::string markdown_block(std::string_view text, std::string_view language) {
  const std::string fence(std::max<std::size_t>(3, longest_ticks(text) + 1), '`');
  return fmt::format("{}{}\n{}{}{}\n", fence, language, text, text.ends_with('\n') ? "" : "\n", fence);
}

std::string markdown_details(std::string_view summary, std::string_view content) {
  return fmt::format("<details><summary>{}</summary>\n\n{}\n</details>\n", markdown_text(summary), content);
}

std::string markdown_table(const std::vector<MarkdownColumn>& columns, const std::vector<std::vector<std::string>>& rows) {
  if (rows.empty()) return "";
  std::vector<std::string> titles, rules;
  for (const auto& column : columns) {
    titles.push_back(markdown_text(column.title));
    rules.emplace_back(column.is_number ? "---:" : "---");
  }
  std::string text = line_of(titles) + line_of(rules);
  for (const auto& row : rows) text += line_of(row);
  return text;
}

std::string markdown_legend(std::string_view sign, std::string_view words) {
  return words.empty() ? "" : fmt::format("\n{} {}\n", markdown_code(sign), markdown_text(words));
}

}  // namespace shardplan
