#include <fmt/format.h>

#include <cmath>
#include <shardplan/collective/counted.hpp>
#include <shardplan/units.hpp>

namespace shardplan {
namespace {

// What three digits would round up to the next unit's 1 is written in that unit: 999.6 kB is 1 MB.
constexpr double next = 0.9995;

template <class Amount>
std::string three_digits(Amount amount) {
  const auto [number, unit] = scaled(amount);
  constexpr double least = 999.5, most = 1e15;  // in between {:.3g} would have an exponent, and a double all digits
  if (number >= least && number < most) return fmt::format("{} {}", with_separators(std::llround(number)), unit);
  return fmt::format("{:.3g} {}", number, unit);
}

}  // namespace

Scaled scaled(Bytes amount) {
  const auto value = static_cast<double>(amount.value);
  if (value < next * 1e6) return {value / 1e3, "kB"};
  if (value < next * 1e9) return {value / 1e6, "MB"};
  if (value < next * 1e12) return {value / 1e9, "GB"};
  if (value < next * 1e15) return {value / 1e12, "TB"};
  return {value / 1e15, "PB"};
}

Scaled scaled(Seconds time) {
  if (time.value < next * 1e-3) return {time.value * 1e6, "us"};
  if (time.value < next) return {time.value * 1e3, "ms"};
  return {time.value, "s"};
}

std::string in_words(Bytes amount) { return three_digits(amount); }
std::string in_words(Seconds time) { return three_digits(time); }

double gibibytes(Bytes amount) { return static_cast<double>(amount.value) / (1024.0 * 1024 * 1024); }

}  // namespace shardplan
