#include <gmock/gmock.h>

#include <cost_models/time/clock_share.hpp>
#include <cost_models/time/compute_time.hpp>
#include <cost_models/time/product_time.hpp>

#include "time_toys.hpp"

namespace shardplan {
namespace {

using enum WorkKind;
constexpr double TFLOP = 1e12;
constexpr std::int64_t GB = 1'000'000'000;

OperationWork work(WorkKind kind, double forward, double backward, std::int64_t traffic) {
  OperationWork work;
  work.kind = kind;
  work.forward = {forward};
  work.backward = {backward};
  work.forward_traffic = {traffic};
  work.backward_traffic = {2 * traffic};
  return work;
}

OperationTime time_of(const OperationWork& work, const HardwareProfile& machine = toy_machine()) {
  return operation_time(work, machine, toy_compiler());
}

struct KernelRow {
  WorkKind kind;
  double flops;
  std::int64_t traffic;
  double milliseconds;
};

constexpr KernelRow kernels[] = {
    {matmul, 1 * TFLOP, 5 * GB, 10},          // arithmetic 10 ms, traffic 5 ms
    {matmul, 1 * TFLOP, 20 * GB, 20},         // a thin product waits for HBM
    {grouped_matmul, 1 * TFLOP, 5 * GB, 10},  //
    {attention, 2 * TFLOP, 5 * GB, 20},       //
    {attention, 0, 5 * GB, 5},                //
    {vector, 1 * TFLOP, 5 * GB, 0},           // no kernel: its vector work is counted beside it
};

TEST(OperationTime, IsTheSlowerOfArithmeticAndTraffic) {
  for (const auto& row : kernels)
    EXPECT_NEAR(time_of(work(row.kind, row.flops, 0, row.traffic)).forward.total().value, row.milliseconds / 1000, 1e-12)
        << row.flops << " flop, " << row.traffic << " B";
}

TEST(OperationTime, EachKindHasItsShareOfPeakAndItsPlace) {
  HardwareProfile machine = toy_machine();
  machine.matmul_efficiency.value = 0.5;
  machine.attention_efficiency.value = 0.25;
  EXPECT_NEAR(time_of(work(matmul, TFLOP, 0, 0), machine).forward.matmul.value, 0.020, 1e-12);
  EXPECT_NEAR(time_of(work(grouped_matmul, TFLOP, 0, 0), machine).forward.grouped_matmul.value, 0.020, 1e-12);
  EXPECT_NEAR(time_of(work(attention, TFLOP, 0, 0), machine).forward.attention.value, 0.040, 1e-12);
}

TEST(OperationTime, AProductsGradientsAreTwoSteps) {
  const OperationTime time = time_of(work(matmul, TFLOP, 2 * TFLOP, 0));
  EXPECT_NEAR(time.backward.matmul.value, 0.010, 1e-12);
  EXPECT_NEAR(time.backward_right.matmul.value, 0.010, 1e-12);
}

// 3 TFLOP, 2 of them in int8 at twice the rate: 10 + 10 ms. Without a peak: 30 ms.
TEST(OperationTime, NarrowProductsRunAtTheirOwnPeak) {
  OperationWork narrow = work(matmul, 3 * TFLOP, 0, 0);
  narrow.narrow_dtype = DType::s8;
  narrow.narrow_forward = {2 * TFLOP};
  HardwareProfile machine = toy_machine();
  EXPECT_NEAR(time_of(narrow, machine).forward.matmul.value, 0.030, 1e-12);
  machine.peak_int8 = Figure{};
  machine.peak_int8->value = 200e12;
  EXPECT_NEAR(time_of(narrow, machine).forward.matmul.value, 0.020, 1e-12);
  machine.matmul_efficiency.value = 0.5;
  EXPECT_NEAR(time_of(narrow, machine).forward.matmul.value, 0.040, 1e-12);
}

// 4 GB at 1 TB/s: 4 ms. With a vector unit of 100 Gelement/s and operands at 1000: 1 Gelement of 2 operands 10 + 2 ms,
// but never faster than HBM.
TEST(VectorTime, IsTheSlowerOfTheVectorUnitAndTraffic) {
  HardwareProfile machine = toy_machine();
  const VectorWork copy = vector_work({1, 2}, 1e9, DType::bf16);
  EXPECT_NEAR(vector_time(copy, machine, toy_compiler()).value, 0.004, 1e-12);
  machine.vector_pass_rate = Figure{};
  machine.vector_operand_rate = Figure{};
  machine.vector_pass_rate->value = 100e9;
  machine.vector_operand_rate->value = 1000e9;
  EXPECT_NEAR(vector_time(copy, machine, toy_compiler()).value, 0.012, 1e-12);
  machine.hbm_efficiency.value = 0.1;
  EXPECT_NEAR(vector_time(copy, machine, toy_compiler()).value, 0.040, 1e-12);
}

// Measured at 0.5 of 1 TB/s: 8 ms alone, whatever the compiler states. Fused into a product it adds a share of the 12 ms
// that are stated.
TEST(VectorTime, IsTrafficWhereElementwiseKernelsWereMeasured) {
  HardwareProfile machine = toy_machine();
  machine.vector_pass_rate = Figure{100e9, "Gelement/s", "toy", Basis::assumed};
  machine.vector_operand_rate = Figure{1000e9, "Gelement/s", "toy", Basis::assumed};
  machine.elementwise_efficiency = Figure{0.5, "1", "toy", Basis::measured};
  const VectorWork copy = vector_work({1, 2}, 1e9, DType::bf16);
  EXPECT_NEAR(vector_time(copy, machine, toy_compiler()).value, 0.008, 1e-12);
  OperationWork fused;
  fused.fused_forward = copy;
  EXPECT_NEAR(operation_time(fused, machine, toy_compiler()).forward.matmul.value, 0.012, 1e-12);
}

/// Clocked at 2 GHz by default and at 4, the clock of its peaks, in state 7.
HardwareProfile machine_with_states() {
  HardwareProfile machine = toy_machine();
  machine.clock = Figure{4e9, "GHz", "toy", Basis::assumed};
  machine.power_states = PowerStates{3, {{3, {2e9, "GHz", "toy", Basis::assumed}}, {7, *machine.clock}}};
  return machine;
}

TEST(ClockShare, IsThatOfThePowerState) {
  const HardwareProfile machine = machine_with_states();
  Compiler compiler = toy_compiler();
  EXPECT_DOUBLE_EQ(clock_share(toy_machine(), compiler), 1);
  EXPECT_DOUBLE_EQ(clock_share(machine, compiler), 0.5);
  const std::pair<int, double> rows[] = {{3, 0.5}, {4, 0.625}, {5, 0.75}, {7, 1}};
  for (const auto& [state, share] : rows) {
    compiler.power_state = state;
    EXPECT_DOUBLE_EQ(clock_share(machine, compiler), share) << state;
  }
  for (const int unknown : {2, 8}) {
    compiler.power_state = unknown;
    EXPECT_THAT([&] { clock_share(machine, compiler); },
                testing::ThrowsMessage<InputError>(testing::HasSubstr("has clocks of states 3 to 7")));
  }
}

// What HBM bounds takes as long at any clock.
TEST(ClockShare, SlowsComputeAndLeavesTraffic) {
  HardwareProfile machine = machine_with_states();
  machine.vector_pass_rate = Figure{100e9, "Gelement/s", "toy", Basis::assumed};
  machine.vector_operand_rate = Figure{1000e9, "Gelement/s", "toy", Basis::assumed};
  Compiler fast = toy_compiler();
  fast.power_state = 7;
  const auto seconds = [&](const OperationWork& work, const Compiler& compiler) {
    return operation_time(work, machine, compiler).forward.total().value;
  };
  for (const WorkKind kind : {WorkKind::matmul, WorkKind::grouped_matmul, WorkKind::attention}) {
    const OperationWork computing = work(kind, TFLOP, 0, 0), moving = work(kind, 0, 0, 1e9);
    EXPECT_DOUBLE_EQ(seconds(computing, toy_compiler()), 2 * seconds(computing, fast));
    EXPECT_DOUBLE_EQ(seconds(moving, toy_compiler()), seconds(moving, fast));
  }
  OperationWork copy;
  copy.vector_forward = vector_work({1, 2}, 1e9, DType::bf16);
  EXPECT_NEAR(seconds(copy, fast), 0.012, 1e-12);
  EXPECT_NEAR(seconds(copy, toy_compiler()), 0.024, 1e-12);
  machine.hbm_efficiency.value = 0.1;
  EXPECT_NEAR(seconds(copy, toy_compiler()), 0.040, 1e-12);
}

TEST(VectorTime, OfWhatAProductRunsBelongsToTheProduct) {
  OperationWork norm;
  norm.vector_forward = vector_work({1, 1}, 1e9, DType::bf16);
  norm.fused_forward = vector_work({1, 2}, 1e9, DType::bf16);
  EXPECT_NEAR(time_of(norm).forward.vector.value, 0.002, 1e-12);
  EXPECT_NEAR(time_of(norm).forward.matmul.value, 0.004, 1e-12);
}

/// Shares of peak for m, n, k of 512 and 2048: 0.4 where all are small, 0.8 where k is large, 0.6 in between.
ProductTable toy_table(double limit) {
  return {DType::bf16, limit, {512, 2048}, {0.4, 0.8, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6}, 1, "toy"};
}

struct Shape {
  MatrixShape shape;
  double share;
};

const Shape shapes[] = {
    {{512, 512, 512}, 0.4},      // a row of the table
    {{512, 512, 2048}, 0.8},     //
    {{512, 512, 1024}, 0.6},     // halfway by its logarithm
    {{512, 512, 1 << 20}, 0.8},  // beyond: the nearest
    {{256, 512, 512}, 0.4},      //
    {{512, 64, 512}, 0.2},       // half of the matrix unit's width
};

TEST(ProductTime, InterpolatesInTheTableByShape) {
  for (const auto& row : shapes)
    EXPECT_NEAR(share_of_peak(toy_table(0), row.shape), row.share, 1e-12)
        << row.shape.m << " " << row.shape.n << " " << row.shape.k;
}

TEST(ProductTime, TakesTheTableOfTheProgramsVmemLimit) {
  HardwareProfile machine = toy_machine();
  Compiler compiler = toy_compiler();
  EXPECT_EQ(product_table(machine, compiler, DType::bf16), nullptr);
  machine.product_tables = {toy_table(0), toy_table(64e6), toy_table(96e6)};
  EXPECT_EQ(product_table(machine, compiler, DType::bf16), &machine.product_tables[0])
      << "none given: the compiler's default";
  compiler.settings[CompilerSetting::scoped_vmem_limit] = Bytes{66000000};
  EXPECT_EQ(product_table(machine, compiler, DType::bf16), &machine.product_tables[1]);
  compiler.settings[CompilerSetting::scoped_vmem_limit] = Bytes{200000000};
  EXPECT_EQ(product_table(machine, compiler, DType::bf16), &machine.product_tables[2]);
  OperationWork product = work(matmul, TFLOP, 0, 0);
  product.shape = {512, 512, 512, 1};
  EXPECT_NEAR(operation_time(product, machine, compiler).forward.matmul.value, 0.025, 1e-12);
}

// 1 TFLOP at 200 TFLOP/s: of narrow products the table gives a quarter of the peak, without one they reach what wide ones
// do.
TEST(ProductTime, NarrowProductsHaveTablesOfTheirOwn) {
  HardwareProfile machine = toy_machine();
  machine.peak_int8 = Figure{};
  machine.peak_int8->value = 200e12;
  machine.product_tables = {toy_table(0)};
  OperationWork product = work(matmul, TFLOP, 0, 0);
  product.narrow_dtype = DType::s8;
  product.narrow_forward = {TFLOP};
  product.shape = {512, 512, 512, 1};
  EXPECT_NEAR(operation_time(product, machine, toy_compiler()).forward.matmul.value, 0.0125, 1e-12);
  machine.product_tables.push_back({DType::s8, 0, {512, 2048}, std::vector<double>(8, 0.25), 1, "toy"});
  EXPECT_EQ(product_table(machine, toy_compiler(), DType::bf16), &machine.product_tables[0]);
  EXPECT_NEAR(operation_time(product, machine, toy_compiler()).forward.matmul.value, 0.020, 1e-12);
}

// An elementwise operation of 4 ms alone: a product that is compiled with much VMEM computes it in a tenth of that.
TEST(ProductTime, FusedWorkAddsItsShare) {
  HardwareProfile machine = toy_machine();
  Compiler compiler = toy_compiler();
  machine.product_tables = {toy_table(0), toy_table(96e6)};
  machine.product_tables[0].fused_share = 0.5;
  machine.product_tables[1].fused_share = 0.1;
  OperationWork gate;
  gate.fused_forward = gate.fused_backward = vector_work({1, 2}, 1e9, DType::bf16);
  EXPECT_NEAR(operation_time(gate, machine, compiler).forward.matmul.value, 0.002, 1e-12);
  compiler.settings[CompilerSetting::scoped_vmem_limit] = Bytes{96000000};
  EXPECT_NEAR(operation_time(gate, machine, compiler).forward.matmul.value, 0.0004, 1e-12);
  EXPECT_NEAR(operation_time(gate, machine, compiler).backward.matmul.value, 0.0004, 1e-12);
}

TEST(ProductTime, GroupsEndInsideTiles) {
  EXPECT_DOUBLE_EQ(partial_tiles({7168, 1, 1, 8}), 1.5);
  EXPECT_DOUBLE_EQ(partial_tiles({7168, 1, 1, 1}), 1);
  EXPECT_DOUBLE_EQ(partial_tiles({100, 1, 1, 3}), 3) << "fewer rows than a tile: one tile a group";
  OperationWork rows = work(grouped_matmul, TFLOP, 0, 0);
  rows.shape = {7168, 1, 1, 8};
  Compiler compiler = toy_compiler();
  EXPECT_NEAR(operation_time(rows, toy_machine(), compiler).forward.total().value, 0.010, 1e-12) << "another kernel";
  compiler.kernels.has_megablox = true;
  EXPECT_NEAR(operation_time(rows, toy_machine(), compiler).forward.total().value, 0.015, 1e-12);
}

}  // namespace
}  // namespace shardplan
