#include <algorithm>
#include <formats/strict_json.hpp>
#include <planner/calibrate/placed_lines.hpp>
#include <planner/calibrate/read_measurements.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

enum class FileKind { collective_log, product_csv, op_table };

/// Cells between commas without blanks in them, as many as a product has sizes and a type, or one of them a column that
/// is known; or what a spreadsheet that separates by semicolons has made of them.
bool are_titles(const std::vector<std::string_view>& cells) {
  constexpr std::size_t fewest = 4;
  const auto is_word = [](std::string_view cell) { return cell.find(' ') == cell.npos; };
  return (cells.size() >= fewest && std::all_of(cells.begin(), cells.end(), is_word)) ||
         std::any_of(cells.begin(), cells.end(), is_product_column) ||
         (cells.size() == 1 && is_word(cells.front()) && cells.front().find(';') != cells.front().npos);
}

/// By the first line that says something: JSON opens a bracket, a CSV has titles.
FileKind kind_of(std::string_view text, const std::string& file) {
  for (PlacedLines lines(text, file); lines.next();) {
    if (lines.line().empty() || lines.line().starts_with('#')) continue;
    if (lines.line().starts_with('{') || lines.line().starts_with('[')) return FileKind::op_table;
    return are_titles(cells_of(lines.line())) ? FileKind::product_csv : FileKind::collective_log;
  }
  return FileKind::collective_log;
}

/// Spreadsheets begin a text with its byte order mark.
std::string_view without_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

}  // namespace

Measurements read_measurements(const std::string& path) {
  const std::string whole = read_file(path);
  const std::string_view text = without_mark(whole);
  switch (kind_of(text, path)) {
    case FileKind::collective_log:
      return read_collective_log(text, path);
    case FileKind::product_csv:
      return read_product_csv(text, path);
    case FileKind::op_table:
      return read_op_table(text, path);
  }
  throw InternalError("unknown FileKind");
}

}  // namespace shardplan
