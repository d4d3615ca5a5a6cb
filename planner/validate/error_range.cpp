#include <algorithm>
#include <cmath>
#include <planner/validate/error_range.hpp>

namespace shardplan {
namespace {

constexpr double tail = 0.05;

double rounded_down(double share) { return std::floor(share * 1000) / 1000; }

}  // namespace

ErrorRange error_range(std::vector<double> errors, std::size_t enough) {
  if (errors.empty()) return {};
  std::sort(errors.begin(), errors.end());
  const std::size_t count = errors.size();
  const std::size_t cut = count >= enough ? static_cast<std::size_t>(tail * static_cast<double>(count)) : 0;
  return {std::min(rounded_down(errors[cut]), 0.0), std::max(-rounded_down(-errors[count - 1 - cut]), 0.0)};
}

}  // namespace shardplan
