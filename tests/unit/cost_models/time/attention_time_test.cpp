// What attention kernels of GPUs take, from the shares that were measured of them.
#include <gtest/gtest.h>

#include <cost_models/time/attention_time.hpp>
#include <cost_models/time/compute_time.hpp>
#include <hardware/load_profile.hpp>

#include "time_toys.hpp"

namespace shardplan {
namespace {

AttentionKernels toy_kernels() { return {100, {{64, 0.2, 0.1}, {128, 0.6, 0.5}}, "toy"}; }

TEST(AttentionTime, GrowsWithTheKeysOfAQuery) {
  const auto share = [](double keys) { return share_of_peak(toy_kernels(), {keys, 128}, AttentionPass::forward); };
  EXPECT_DOUBLE_EQ(share(100), 0.3);
  EXPECT_DOUBLE_EQ(share(900), 0.54);
}

TEST(AttentionTime, IsLinearBetweenTwoWidthsOfHeads) {
  AttentionKernels kernels = toy_kernels();
  kernels.extra_keys = 0;
  const auto share = [&](double head_dim, AttentionPass pass) { return share_of_peak(kernels, {100, head_dim}, pass); };
  EXPECT_DOUBLE_EQ(share(64, AttentionPass::forward), 0.2);
  EXPECT_DOUBLE_EQ(share(96, AttentionPass::forward), 0.4);
  EXPECT_DOUBLE_EQ(share(96, AttentionPass::backward), 0.3);
  EXPECT_DOUBLE_EQ(share(32, AttentionPass::backward), 0.1) << "below the narrowest";
  EXPECT_DOUBLE_EQ(share(256, AttentionPass::forward), 0.6) << "beyond the widest";
}

/// 1 TFLOP forward, 2.5 backward on 100 TFLOP/s.
TEST(AttentionTime, OfBothPassesOfAKernel) {
  HardwareProfile machine = toy_machine();
  machine.peak_bf16.value = 100e12;
  machine.attention_efficiency.value = 1;
  OperationWork work;
  work.kind = WorkKind::attention;
  work.forward = {1e12};
  work.backward = {2.5e12};
  work.attention = {900, 128};
  EXPECT_DOUBLE_EQ(operation_time(work, machine, toy_compiler()).forward.attention.value, 0.010);
  machine.attention_kernels = toy_kernels();
  const OperationTime time = operation_time(work, machine, toy_compiler());
  EXPECT_DOUBLE_EQ(time.forward.attention.value, 0.010 / 0.54);
  EXPECT_DOUBLE_EQ(time.backward.attention.value, 0.025 / 0.45);
  work.attention = {};
  EXPECT_DOUBLE_EQ(operation_time(work, machine, toy_compiler()).forward.attention.value, 0.010) << "shape unknown";
}

/// Alone on an H100 (hardware/measured/h100.json): 2 sequences of 8,192 tokens, 64 heads of 128, 2.2 TFLOP, 3.85 ms; in a
/// step 5 to 10% more.
TEST(AttentionTime, OfABuiltInMachine) {
  const HardwareProfile h100 = load_profile("h100");
  const double share = share_of_peak(*h100.attention_kernels, {4096, 128}, AttentionPass::forward);
  const double milliseconds = 4 * 2 * 64 * 8192.0 * 4096 * 128 / (h100.peak_bf16.value * share) * 1e3;
  EXPECT_GT(milliseconds, 3.85);
  EXPECT_LT(milliseconds, 3.85 * 1.1);
}

}  // namespace
}  // namespace shardplan
