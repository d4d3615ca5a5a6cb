#include <fmt/format.h>

#include <planner/report/csv/csv_table.hpp>

namespace shardplan {
namespace {

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

std::string csv_number(double number) { return fmt::format("{}", number); }

std::string csv_number(const std::optional<double>& number) { return number ? csv_number(*number) : ""; }

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) line += (i == 0 ? "" : ",") + csv_cell(cells[i]);
  return line + "\n";
}

}  // namespace shardplan
