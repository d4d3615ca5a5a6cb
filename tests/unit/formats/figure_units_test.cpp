#include <gmock/gmock.h>

#include <formats/figure_units.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

TEST(FigureUnits, ConvertToSi) {
  const struct {
    const char* unit;
    Dimension dimension;
    double factor;
  } rows[] = {
      {"GB", Dimension::bytes, 1e9},
      {"GiB", Dimension::bytes, 1073741824.0},
      {"GB/s", Dimension::bytes_per_second, 1e9},
      {"Gbit/s", Dimension::bytes_per_second, 0.125e9},
      {"TFLOP/s", Dimension::flops_per_second, 1e12},
      {"us", Dimension::seconds, 1e-6},
      {"%", Dimension::share, 0.01},
      {"devices", Dimension::count, 1},
      {"kW", Dimension::watts, 1000},
  };
  for (const auto& row : rows) EXPECT_DOUBLE_EQ(si_factor(row.unit, row.dimension, "here"), row.factor) << row.unit;
}

TEST(FigureUnits, RejectWhatTheyDoNotKnow) {
  const struct {
    const char* unit;
    Dimension dimension;
    const char* message;
  } rows[] = {
      {"Gb/s", Dimension::bytes_per_second,
       "here: unknown unit 'Gb/s'; expected a data rate, as in GB/s (bytes) or Gbit/s (bits)"},
      {"gbit/s", Dimension::bytes_per_second, "here: unknown unit 'gbit/s'; expected a data rate"},
      {"us", Dimension::bytes_per_second, "here: unit 'us' does not fit; expected a data rate"},
      {"GB/s", Dimension::bytes, "here: unit 'GB/s' does not fit; expected an amount of memory"},
  };
  for (const auto& row : rows)
    EXPECT_THAT([&] { si_factor(row.unit, row.dimension, "here"); },
                testing::ThrowsMessage<InputError>(testing::HasSubstr(row.message)));
}

}  // namespace
}  // namespace shardplan
