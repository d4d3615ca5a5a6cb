#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <formats/figure_units.hpp>
#include <shardplan/error.hpp>
#include <string_view>

namespace shardplan {
namespace {

struct Unit {
  std::string_view name;
  Dimension dimension;
  double factor;
};

constexpr double KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB, TiB = 1024 * GiB;

constexpr std::array units{
    Unit{"B", Dimension::bytes, 1},
    Unit{"KB", Dimension::bytes, 1e3},
    Unit{"MB", Dimension::bytes, 1e6},
    Unit{"GB", Dimension::bytes, 1e9},
    Unit{"TB", Dimension::bytes, 1e12},
    Unit{"KiB", Dimension::bytes, KiB},
    Unit{"MiB", Dimension::bytes, MiB},
    Unit{"GiB", Dimension::bytes, GiB},
    Unit{"TiB", Dimension::bytes, TiB},
    Unit{"B/s", Dimension::bytes_per_second, 1},
    Unit{"MB/s", Dimension::bytes_per_second, 1e6},
    Unit{"GB/s", Dimension::bytes_per_second, 1e9},
    Unit{"TB/s", Dimension::bytes_per_second, 1e12},
    Unit{"GiB/s", Dimension::bytes_per_second, GiB},
    Unit{"TiB/s", Dimension::bytes_per_second, TiB},
    Unit{"Mbit/s", Dimension::bytes_per_second, 1e6 / 8},
    Unit{"Gbit/s", Dimension::bytes_per_second, 1e9 / 8},
    Unit{"Tbit/s", Dimension::bytes_per_second, 1e12 / 8},
    Unit{"FLOP/s", Dimension::flops_per_second, 1},
    Unit{"GFLOP/s", Dimension::flops_per_second, 1e9},
    Unit{"TFLOP/s", Dimension::flops_per_second, 1e12},
    Unit{"PFLOP/s", Dimension::flops_per_second, 1e15},
    Unit{"Gelement/s", Dimension::elements_per_second, 1e9},
    Unit{"MHz", Dimension::cycles_per_second, 1e6},
    Unit{"GHz", Dimension::cycles_per_second, 1e9},
    Unit{"s", Dimension::seconds, 1},
    Unit{"ms", Dimension::seconds, 1e-3},
    Unit{"us", Dimension::seconds, 1e-6},
    Unit{"ns", Dimension::seconds, 1e-9},
    Unit{"1", Dimension::share, 1},
    Unit{"%", Dimension::share, 0.01},
    Unit{"devices", Dimension::count, 1},
    Unit{"chips", Dimension::count, 1},
    Unit{"USD/h", Dimension::dollars_per_hour, 1},
    Unit{"W", Dimension::watts, 1},
    Unit{"kW", Dimension::watts, 1e3},
};

std::string_view description_of(Dimension dimension) {
  switch (dimension) {
    case Dimension::bytes:
      return "an amount of memory, as in GB or GiB";
    case Dimension::bytes_per_second:
      return "a data rate, as in GB/s (bytes) or Gbit/s (bits)";
    case Dimension::flops_per_second:
      return "a compute rate, as in TFLOP/s";
    case Dimension::elements_per_second:
      return "a rate of elements, as in Gelement/s";
    case Dimension::cycles_per_second:
      return "a clock rate, as in GHz";
    case Dimension::seconds:
      return "a time, as in us";
    case Dimension::share:
      return "a share, as in 1 or %";
    case Dimension::count:
      return "a count, as in devices or chips";
    case Dimension::dollars_per_hour:
      return "a price, as in USD/h";
    case Dimension::watts:
      return "a power, as in W";
  }
  throw InternalError("unknown dimension of a unit");
}

}  // namespace

double si_factor(const std::string& unit, Dimension dimension, const std::string& where) {
  const auto found = std::find_if(units.begin(), units.end(), [&](const Unit& known) { return known.name == unit; });
  // No nearest: of Gb/s that is GB/s, eight times as much.
  if (found == units.end())
    throw InputError(fmt::format("{}: unknown unit '{}'; expected {}", where, unit, description_of(dimension)));
  if (found->dimension != dimension)
    throw InputError(fmt::format("{}: unit '{}' does not fit; expected {}", where, unit, description_of(dimension)));
  return found->factor;
}

}  // namespace shardplan
