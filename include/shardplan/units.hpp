#pragma once
// Quantities with types. Bytes are integers because counted bytes are compared exactly with the compiler's;
// the rest are doubles. Only the meaningful operations exist: Bytes / BytesPerSecond is Seconds, Bytes + Seconds does
// not compile.
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace shardplan {

struct Bytes {
  std::int64_t value = 0;
  auto operator<=>(const Bytes&) const = default;
  Bytes& operator+=(Bytes other) {
    value += other.value;
    return *this;
  }
  Bytes& operator-=(Bytes other) {
    value -= other.value;
    return *this;
  }
};
constexpr Bytes operator+(Bytes a, Bytes b) { return {a.value + b.value}; }
constexpr Bytes operator-(Bytes a, Bytes b) { return {a.value - b.value}; }
constexpr Bytes operator*(Bytes a, std::int64_t n) { return {a.value * n}; }

template <class Tag>
struct Quantity {
  double value = 0;
  auto operator<=>(const Quantity&) const = default;
  Quantity& operator+=(Quantity other) {
    value += other.value;
    return *this;
  }
};
template <class Tag>
constexpr Quantity<Tag> operator+(Quantity<Tag> a, Quantity<Tag> b) {
  return {a.value + b.value};
}
template <class Tag>
constexpr Quantity<Tag> operator-(Quantity<Tag> a, Quantity<Tag> b) {
  return {a.value - b.value};
}
template <class Tag>
constexpr Quantity<Tag> operator*(Quantity<Tag> a, double n) {
  return {a.value * n};
}
template <class Tag>
constexpr double operator/(Quantity<Tag> a, Quantity<Tag> b) {
  return a.value / b.value;
}

using Seconds = Quantity<struct SecondsTag>;
using Flops = Quantity<struct FlopsTag>;  ///< floating-point operations (a multiply-add is two)
using FlopsPerSecond = Quantity<struct FlopsPerSecondTag>;
using BytesPerSecond = Quantity<struct BytesPerSecondTag>;

constexpr Seconds operator/(Bytes amount, BytesPerSecond rate) {
  return {static_cast<double>(amount.value) / rate.value};
}
constexpr Seconds operator/(Flops amount, FlopsPerSecond rate) { return {amount.value / rate.value}; }

/// An amount in the unit that people would take.
struct Scaled {
  double number = 0;
  std::string_view unit;
};
Scaled scaled(Bytes amount);  ///< kB, MB, GB, TB, PB
Scaled scaled(Seconds time);  ///< us, ms, s

/// Within sentences, three digits, and all in front of the point: "45.1 GB", "3.2 MB", "1.23 s", "95,275 s".
std::string in_words(Bytes amount);
std::string in_words(Seconds time);

/// Memory in what capacities of devices are quoted in.
double gibibytes(Bytes amount);

}  // namespace shardplan
