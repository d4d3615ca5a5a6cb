#pragma once
// Whole numbers that don't come out even. 10 in parts of 4: 3 parts, which hold 12.
#include <cstdint>

namespace shardplan {

constexpr std::int64_t divided_up(std::int64_t number, std::int64_t parts) { return (number + parts - 1) / parts; }

constexpr std::int64_t rounded_up(std::int64_t number, std::int64_t unit) { return divided_up(number, unit) * unit; }

}  // namespace shardplan
