// Gradients of experts' biases on GPUs: rows that are added to few, number by number.
#include <gtest/gtest.h>

#include <cost_models/time/compute_time.hpp>
#include <cost_models/time/row_sums_time.hpp>
#include <hardware/load_profile.hpp>

#include "time_toys.hpp"

namespace shardplan {
namespace {

/// 100G tries a second, 1,000 numbers on their way.
HardwareProfile machine_of_tries() {
  HardwareProfile machine = toy_machine();
  machine.atomic_additions = {{100e9, "Gelement/s", "toy", Basis::assumed}, 1000, "toy"};
  return machine;
}

TEST(RowSums, WaitForTheRowsOfTheirSum) {
  EXPECT_DOUBLE_EQ(row_sums_time({1e6, 4, 10}, machine_of_tries()).value, 1e6 * 4 / 100e9);
  EXPECT_DOUBLE_EQ(row_sums_time({1e6, 4, 1000}, machine_of_tries()).value, 1e6 / 100e9) << "one row is on its way";
  EXPECT_EQ(row_sums_time({1e6, 4, 10}, toy_machine()).value, 0) << "without the figure";
}

TEST(RowSums, AreAPartOfTheBackwardPass) {
  OperationWork work;
  work.row_sums = {1e6, 4, 10};
  const OperationTime time = operation_time(work, machine_of_tries(), toy_compiler());
  EXPECT_EQ(time.forward.total().value, 0);
  EXPECT_DOUBLE_EQ(time.backward.bias_gradients.value, 4e-5);
  EXPECT_DOUBLE_EQ(time.backward.total().value, 4e-5);
}

/// Measured on an H200 (hardware/measured/h200.json), million numbers a second; within 12%.
TEST(RowSums, OfABuiltInMachine) {
  const HardwareProfile h200 = load_profile("h200");
  const auto rate = [&](double tokens, double sums, double width) {
    return tokens * width / row_sums_time({tokens * width, tokens / sums, width}, h200).value / 1e6;
  };
  EXPECT_NEAR(rate(8192, 32, 2880) / 2165, 1, 0.12);
  EXPECT_NEAR(rate(8192, 8, 14336) / 2571, 1, 0.12);
  EXPECT_NEAR(rate(65536, 128, 2048) / 977, 1, 0.12);
  EXPECT_NEAR(rate(65536, 32, 2880) / 470, 1, 0.12);
}

}  // namespace
}  // namespace shardplan
