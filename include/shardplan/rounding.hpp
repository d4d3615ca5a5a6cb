#pragma once
// Whole numbers in parts. 10 in parts of 4: 3 parts, which hold 12.
#include <algorithm>
#include <cstdint>
#include <vector>

namespace shardplan {

constexpr std::int64_t divided_up(std::int64_t number, std::int64_t parts) { return (number + parts - 1) / parts; }

constexpr std::int64_t rounded_up(std::int64_t number, std::int64_t unit) { return divided_up(number, unit) * unit; }

/// Ascending: 12 → 1, 2, 3, 4, 6, 12. As fast for a billion as it takes to count to its root.
inline std::vector<std::int64_t> divisors_of(std::int64_t number) {
  std::vector<std::int64_t> found;
  for (std::int64_t n = 1; n * n <= number; ++n) {
    if (number % n != 0) continue;
    found.push_back(n);
    if (n * n < number) found.push_back(number / n);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace shardplan
