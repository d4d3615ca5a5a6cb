#include <algorithm>
#include <formats/strict_json.hpp>
#include <planner/calibrate/placed_lines.hpp>
#include <planner/calibrate/read_measurements.hpp>

namespace shardplan {
namespace {

enum class FileKind { collective_log, product_csv, op_table };

/// By the first line that says something: JSON opens a bracket, the titles of a CSV are commas and no blanks between.
FileKind kind_of(const std::string& text, const std::string& file) {
  for (PlacedLines lines(text, file); lines.next();) {
    if (lines.line().empty() || lines.line().starts_with('#')) continue;
    if (lines.line().starts_with('{') || lines.line().starts_with('[')) return FileKind::op_table;
    const auto cells = cells_of(lines.line());
    const bool titles = std::find(cells.begin(), cells.end(), "m") != cells.end();
    return titles ? FileKind::product_csv : FileKind::collective_log;
  }
  return FileKind::collective_log;
}

}  // namespace

Measurements read_measurements(const std::string& path) {
  const std::string text = read_file(path);
  switch (kind_of(text, path)) {
    case FileKind::collective_log:
      return read_collective_log(text, path);
    case FileKind::product_csv:
      return read_product_csv(text, path);
    case FileKind::op_table:
      return read_op_table(text, path);
  }
  return {};
}

}  // namespace shardplan
