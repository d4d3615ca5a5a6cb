#pragma once
// Comma-separated values as RFC 4180 has them, lines ended by a line feed alone.
#include <optional>
#include <string>
#include <vector>

namespace shardplan {

/// Shortest text that reads back as the same number; empty for none.
std::string csv_number(double number);
std::string csv_number(const std::optional<double>& number);

/// One line; cells with commas, quotes or line feeds are quoted.
std::string csv_line(const std::vector<std::string>& cells);

}  // namespace shardplan
