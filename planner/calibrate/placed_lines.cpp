#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <planner/calibrate/placed_lines.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

constexpr std::string_view blanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(blanks);
  return begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// "[1,0]<stdout>:", in newer versions "[JOB,0]<stdout>: ".
std::string_view without_tag(std::string_view line) {
  const auto end = line.find("]<std");
  const auto colon = line.find(">:", end);
  const bool has_tag = line.starts_with('[') && end != line.npos && line.find_first_of(blanks) > end && colon != line.npos;
  return has_tag ? line.substr(colon + 2) : line;
}

}  // namespace

bool PlacedLines::next() {
  if (rest_.empty()) return false;
  const auto end = rest_.find('\n');
  line_ = trimmed(without_tag(trimmed(rest_.substr(0, end))));
  rest_ = end == rest_.npos ? "" : rest_.substr(end + 1);
  ++number_;
  return true;
}

void PlacedLines::fail(const std::string& what) const {
  throw InputError(fmt::format("{}:{}: {}", file_, number_, what));
}

double PlacedLines::positive(std::string_view word, std::string_view column) const {
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(number) || number <= 0)
    fail(fmt::format("column {} has '{}', expected a number above 0", column, word));
  return number;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (auto begin = line.find_first_not_of(blanks); begin != line.npos;) {
    const auto end = line.find_first_of(blanks, begin);
    words.push_back(line.substr(begin, end - begin));
    begin = end == line.npos ? end : line.find_first_not_of(blanks, end);
  }
  return words;
}

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  for (;;) {
    const auto comma = line.find(',');
    cells.push_back(trimmed(line.substr(0, comma)));
    if (comma == line.npos) return cells;
    line.remove_prefix(comma + 1);
  }
}

}  // namespace shardplan
