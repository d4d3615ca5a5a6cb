#include <gtest/gtest.h>

#include <cost_models/time/compute_time.hpp>
#include <cost_models/time/splash_time.hpp>
#include <hardware/load_profile.hpp>

#include "time_toys.hpp"

namespace shardplan {
namespace {

constexpr double GHz = 1e9;

SplashCycles flat(SplashKernel kernel, double visited, double masked, double row, double step) {
  SplashCycles cycles;
  cycles.kernel = kernel;
  cycles.visited.fill(visited);
  cycles.masked.fill(masked);
  cycles.row.fill(row);
  cycles.step.fill(step);
  return cycles;
}

/// 1 GHz; of every block 100 cycles, of a cut one 150; 10 a row, 1 a step. Products take no time.
HardwareProfile splash_machine(int cores = 1) {
  HardwareProfile machine = toy_machine();
  machine.clock = Figure{};
  machine.clock->value = GHz;
  machine.peak_bf16.value = 1e30;
  machine.splash = SplashTables{};
  machine.splash->cores = cores;
  machine.splash->heads = {128, 256};
  machine.splash->queries = machine.splash->keys = {512, 2048};
  machine.splash->kernels = {flat(SplashKernel::forward, 100, 150, 10, 1),
                             flat(SplashKernel::fused_gradient, 100, 150, 10, 1)};
  return machine;
}

/// 4 heads of 6 whole blocks, 4 cut ones, 4 rows, 16 steps: 4 x (600 + 600 + 40 + 16) cycles.
BlockLoop loop_of(SplashKernel kernel) {
  BlockLoop loop = block_loop(SplashLibrary::jax, kernel, 4096, {}, {1024, 1024, 1024});
  loop.lanes = 128;
  loop.heads = 4;
  return loop;
}

double cycles(const BlockLoop& loop, const HardwareProfile& machine) { return splash_time({loop}, machine).value * GHz; }

TEST(SplashTime, IsWhatBlocksRowsAndStepsTake) {
  EXPECT_NEAR(cycles(loop_of(SplashKernel::forward), splash_machine()), 4 * 1256, 1e-6);
}

TEST(SplashTime, KeysThatAreMultipliedInPartsTakeAsManyBlocks) {
  BlockLoop loop = loop_of(SplashKernel::forward);
  loop.block.multiplied_keys = 256;
  EXPECT_NEAR(cycles(loop, splash_machine()), 4 * (4 * 1200 + 56), 1e-6);
}

TEST(SplashTime, CoresShareTheHeadsOfTheForwardKernelAlone) {
  EXPECT_NEAR(cycles(loop_of(SplashKernel::forward), splash_machine(2)), 2 * 1256, 1e-6);
  EXPECT_NEAR(cycles(loop_of(SplashKernel::fused_gradient), splash_machine(2)), 4 * 1256, 1e-6);
}

/// Two products of 1024 x 1024 x 128 are 2^29 FLOPs: at 2^20 FLOPs a cycle 512 cycles for each of 10 blocks.
TEST(SplashTime, ABlockTakesAtLeastWhatItsProductsTake) {
  HardwareProfile machine = splash_machine();
  machine.peak_bf16.value = (1 << 20) * GHz;
  EXPECT_NEAR(cycles(loop_of(SplashKernel::forward), machine), 4 * (10 * 512 + 56), 1e-3);
}

/// Between 512 and 2048 queries: 1 cycle a query; head and keys alike.
TEST(SplashTime, IsLinearBetweenTheCorners) {
  HardwareProfile machine = splash_machine();
  SplashCycles& forward = machine.splash->kernels.front();
  forward = flat(SplashKernel::forward, 0, 0, 0, 0);
  forward.visited = forward.masked = {512, 512, 2048, 2048, 512, 512, 2048, 2048};
  EXPECT_NEAR(cycles(loop_of(SplashKernel::forward), machine), 4 * 10 * 1024, 1e-6);
  BlockLoop wider = loop_of(SplashKernel::forward);
  wider.lanes = 512;
  wider.block.queries = 4096;
  EXPECT_NEAR(cycles(wider, machine), 4 * 10 * 4096, 1e-6);
}

/// Other attention goes by attention_efficiency, and so does all of it on a machine without tables.
TEST(SplashTime, StandsForLoopsAlone) {
  OperationWork work;
  work.kind = WorkKind::attention;
  work.forward = work.backward = {1e12};
  HardwareProfile machine = splash_machine();
  machine.peak_bf16.value = 100e12;
  EXPECT_NEAR(operation_time(work, machine, toy_compiler()).forward.attention.value, 0.010, 1e-12);
  work.forward_loops = {loop_of(SplashKernel::forward)};
  work.backward_loops = {loop_of(SplashKernel::fused_gradient)};
  const OperationTime time = operation_time(work, machine, toy_compiler());
  EXPECT_EQ(time.forward.attention, splash_time(work.forward_loops, machine));
  EXPECT_EQ(time.backward.attention, splash_time(work.backward_loops, machine));
  EXPECT_NEAR(operation_time(work, toy_machine(), toy_compiler()).forward.attention.value,
              1e12 / (toy_machine().peak_bf16.value * toy_machine().attention_efficiency.value), 1e-12);
}

/// Compiled: of the fused kernel of 128-wide heads on v6e in blocks of 2048, 22,971 cycles a block; a head of 8,192 tokens
/// has 10 of 16 blocks, 4 rows and 16 steps.
TEST(SplashTime, OfABuiltInMachine) {
  const HardwareProfile v6e = load_profile("tpu-v6e");
  BlockLoop loop = block_loop(SplashLibrary::jax, SplashKernel::fused_gradient, 8192, {}, {2048, 2048, 2048});
  loop.lanes = 128;
  EXPECT_NEAR(splash_time({loop}, v6e).value * v6e.clock->value, 10 * 22971 + 4 * 455 + 16 * 281, 1e-3);
}

}  // namespace
}  // namespace shardplan
