#include <fmt/format.h>

#include <array>
#include <planner/report/html/html_report.hpp>
#include <shardplan/embedded_file.hpp>
#include <shardplan/error.hpp>
#include <span>
#include <utility>

namespace shardplan {

std::span<const EmbeddedFile> embedded_page();
std::span<const EmbeddedFile> embedded_styles();
std::span<const EmbeddedFile> embedded_scripts();

namespace {

std::string_view page_file(std::string_view name) {
  for (const auto& file : embedded_page())
    if (file.name == name) return file.text;
  throw InternalError(fmt::format("no page file {}", name));
}

std::string joined(std::span<const EmbeddedFile> files) {
  std::string text;
  for (const auto& file : files) text += file.text;
  return text;
}

std::string replaced(std::string_view text, char from, std::string_view to) {
  std::string result;
  for (const char c : text) c == from ? result += to : result += c;
  return result;
}

/// No end tag in a string may end the script element; JSON has "<" in strings only.
std::string in_script(std::string_view json) { return replaced(json, '<', "\\u003c"); }

std::string in_markup(std::string_view text) { return replaced(replaced(text, '&', "&amp;"), '<', "&lt;"); }

}  // namespace

std::string html_page(std::string_view title, std::string_view json) {
  const std::array<std::pair<std::string_view, std::string>, 5> parts = {{
      {"{{title}}", in_markup(title)},
      {"{{style}}", joined(embedded_styles())},
      {"{{answer}}", in_script(json)},
      {"{{charts}}", std::string(page_file("chart_library"))},
      {"{{script}}", joined(embedded_scripts())},
  }};
  const std::string_view page = page_file("page");
  std::string text;
  std::size_t at = 0;
  for (const auto& [place, content] : parts) {  // in the order in which the page has them
    const std::size_t found = page.find(place, at);
    if (found == page.npos) throw InternalError(fmt::format("the page has no place {}", place));
    text += page.substr(at, found - at);
    text += content;
    at = found + place.size();
  }
  return text + std::string(page.substr(at));
}

}  // namespace shardplan
