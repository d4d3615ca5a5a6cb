#pragma once
// Comma-separated values as RFC 4180 has them, lines ended by a line feed alone.
#include <string>
#include <vector>

namespace shardplan {

/// One line; cells with commas, quotes or line feeds are quoted.
std::string csv_line(const std::vector<std::string>& cells);

}  // namespace shardplan
