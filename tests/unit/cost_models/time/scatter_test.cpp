// Routing weights of all tokens, scattered number by number.
#include <gtest/gtest.h>

#include <cost_models/time/scatter_time.hpp>

#include "time_toys.hpp"

namespace shardplan {
namespace {

/// Two cycles for each word in VMEM, five for others; halves three and seven. Results of less than 1,000 bytes are in VMEM.
Compiler compiler_of_cycles() {
  Compiler compiler = toy_compiler();
  compiler.scatter_cycles = {{2, 5}, {3, 7}, Bytes{1000}};
  return compiler;
}

/// A thousand cycles a second.
HardwareProfile slow_machine() {
  HardwareProfile machine = toy_machine();
  machine.clock = Figure{1000, "GHz", "toy", Basis::assumed};
  return machine;
}

TEST(ScatterTime, TakesCyclesForEachNumber) {
  const auto seconds = [](const Scatter& scatter) {
    return scatter_time(scatter, slow_machine(), compiler_of_cycles()).expected.value;
  };
  EXPECT_DOUBLE_EQ(seconds({100, 249, 4}), 0.2);
  EXPECT_DOUBLE_EQ(seconds({100, 250, 4}), 0.5) << "of 1,000 bytes";
  EXPECT_DOUBLE_EQ(seconds({100, 249, 2}), 0.3);
  EXPECT_DOUBLE_EQ(seconds({100, 250, 2}), 0.7) << "a half is a word while it is worked on";
  EXPECT_DOUBLE_EQ(scatter_time({100, 250, 4}, slow_machine(), compiler_of_cycles()).at_least.value, 0.2);
}

TEST(ScatterTime, KnowsTheVmemThatAFlagGives) {
  Compiler compiler = compiler_of_cycles();
  compiler.settings[CompilerSetting::scoped_vmem_limit] = Bytes{2000};
  EXPECT_DOUBLE_EQ(scatter_time({100, 250, 4}, slow_machine(), compiler).expected.value, 0.2);
}

TEST(ScatterTime, IsNoneWithoutCycles) {
  EXPECT_EQ(scatter_time({100, 250, 4}, slow_machine(), toy_compiler()).expected.value, 0);
}

TEST(ScatterTime, IsOfBothPasses) {
  OperationWork work;
  work.scatters_forward = {{100, 249, 4}, {100, 250, 2}};
  work.scatter_backward = {10, 249, 2};
  EXPECT_DOUBLE_EQ(scatter_time(work, slow_machine(), compiler_of_cycles()).expected.value, 0.2 + 0.7 + 0.03);
  EXPECT_DOUBLE_EQ(forward_scatter_time(work, slow_machine(), compiler_of_cycles()).expected.value, 0.2 + 0.7);
}

}  // namespace
}  // namespace shardplan
