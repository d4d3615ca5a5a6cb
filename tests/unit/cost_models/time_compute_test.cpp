#include <gmock/gmock.h>

#include <cost_models/time/compute_time.hpp>

#include "time_toys.hpp"

namespace shardplan {
namespace {

struct Kernel {
  WorkKind kind;
  double flops;
  std::int64_t traffic;
  double milliseconds;
};

using enum WorkKind;
constexpr double TFLOP = 1e12;
constexpr std::int64_t GB = 1'000'000'000;
constexpr Kernel kernels[] = {
    {matmul, 1 * TFLOP, 5 * GB, 10},     // arithmetic 10 ms, traffic 5 ms
    {matmul, 1 * TFLOP, 20 * GB, 20},    // a thin product waits for HBM
    {attention, 2 * TFLOP, 5 * GB, 20},  //
    {attention, 0, 5 * GB, 5},           //
    {vector, 0, 5 * GB, 5},              //
    {vector, 1 * TFLOP, 5 * GB, 5},      // its arithmetic hides behind its traffic
};

TEST(KernelTime, IsTheSlowerOfArithmeticAndTraffic) {
  for (const auto& row : kernels)
    EXPECT_NEAR(kernel_time(row.kind, {row.flops}, {row.traffic}, toy_machine()).value, row.milliseconds / 1000, 1e-12)
        << row.flops << " flop, " << row.traffic << " B";
}

TEST(KernelTime, EachKindHasItsShareOfPeak) {
  HardwareProfile machine = toy_machine();
  machine.matmul_efficiency.value = 0.5;
  machine.attention_efficiency.value = 0.25;
  machine.hbm_efficiency.value = 0.1;
  EXPECT_NEAR(kernel_time(matmul, {1 * TFLOP}, {}, machine).value, 0.020, 1e-12);
  EXPECT_NEAR(kernel_time(attention, {1 * TFLOP}, {}, machine).value, 0.040, 1e-12);
  EXPECT_NEAR(kernel_time(vector, {}, {1 * GB}, machine).value, 0.010, 1e-12);
}

// 3 TFLOP, 2 of them in int8 at twice the rate: 10 + 10 ms; 1 GB of narrowing adds 1 ms. Without a peak: 30 + 1 ms.
TEST(ComputeTime, NarrowProductsRunAtTheirOwnPeak) {
  OperationWork narrow{"toy", matmul, {3 * TFLOP}, {}, {}, {}};
  narrow.narrow_dtype = DType::s8;
  narrow.narrow_forward = {2 * TFLOP};
  narrow.narrowing_forward = {1 * GB};
  PartitionedBlock block;
  block.work = {narrow};
  HardwareProfile machine = toy_machine();
  EXPECT_NEAR(compute_time(block, machine).forward.value, 0.031, 1e-12);
  machine.peak_int8 = Figure{};
  machine.peak_int8->value = 200e12;
  EXPECT_NEAR(compute_time(block, machine).forward.value, 0.021, 1e-12);
  machine.matmul_efficiency.value = 0.5;
  EXPECT_NEAR(compute_time(block, machine).forward.value, 0.041, 1e-12);
}

OperationWork work(WorkKind kind, double forward, double backward, std::int64_t traffic, bool recomputed) {
  return {"toy", kind, {forward}, {backward}, {traffic}, {2 * traffic}, recomputed};
}

TEST(ComputeTime, SumsKernelsAndRunsTheRecomputedOnesTwice) {
  PartitionedBlock block;
  block.work = {work(matmul, 1 * TFLOP, 2 * TFLOP, 0, true),       // 10, 20 ms; again 10
                work(matmul, 3 * TFLOP, 6 * TFLOP, 0, false),      // 30, 60 ms
                work(attention, 1 * TFLOP, 2.5 * TFLOP, 0, true),  // 10, 25 ms; again 10
                work(vector, 0, 0, 4 * GB, true)};                 // 4, 8 ms; again 4
  const ComputeTime time = compute_time(block, toy_machine());
  EXPECT_NEAR(time.forward.value, 0.054, 1e-12);
  EXPECT_NEAR(time.recomputed.value, 0.024, 1e-12);
  EXPECT_NEAR(time.backward.value, 0.113, 1e-12);
}

}  // namespace
}  // namespace shardplan
