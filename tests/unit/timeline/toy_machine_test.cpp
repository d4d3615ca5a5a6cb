// Programs on a machine of round numbers: 100 TFLOP/s, 1 TB/s of HBM, 100 GB/s to each of 8 devices, 12 us a collective.
#include <gmock/gmock.h>

#include <compilers/load_compiler.hpp>
#include <hardware/load_profile.hpp>
#include <hardware/machine_of_chips.hpp>
#include <planner/audit/program_timeline.hpp>
#include <shardplan/error.hpp>
#include <tests/unit/timeline/toy_programs.hpp>

namespace shardplan {
namespace {

constexpr double precision = 1e-12;

Machine toy_machine() {
  const HardwareProfile hardware = load_profile("toy-switch");
  return machine_of(hardware, 8, 1);
}

ProgramTimeline timed(const std::string& text, const Machine& machine) {
  const Mesh mesh{{{"fsdp", 8}}};
  LinkPrices links(machine, mesh);
  return time_program(scheduled(text), machine, load_compiler(machine.hardware.compiler), mesh, links);
}

/// A product of 2·10,000³ = 2 TFLOP: 20 ms; its operands and result, 600 MB, 0.6 ms.
const std::string matmul =
    "  %x = bf16[10000,10000]{1,0} iota(), iota_dimension=0\n"
    "  %m = bf16[10000,10000]{1,0} dot(%x, %x), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n";

TEST(ToyMachine, AProductTakesItsFlopsAndOtherKernelsTheirBytes) {
  const Timeline t = timed(scheduled_text(matmul), toy_machine()).timeline;
  EXPECT_NEAR(t.kernels.product.value, 20e-3, precision);
  EXPECT_NEAR(t.kernels.vector.value, 0.2e-3, precision);  // iota writes 200 MB
}

/// Eight rows of 10,000 for each of 1,000 tokens, summed with the token's weights, as XLA:TPU writes it for 7x: 180 MB,
/// which a device's HBM moves at 0.87 of 3.69 TB/s.
TEST(ToyMachine, AMatrixTimesAVectorForEachTokenTakesItsBytes) {
  const HardwareProfile hardware = load_profile("tpu-7x");
  const std::string text =
      "  %x = bf16[1000,8,10000]{2,1,0} broadcast(%p), dimensions={}\n"
      "  %w = bf16[1000,8,1]{2,1,0} broadcast(%p), dimensions={}\n"
      "  %s = bf16[1000,1,10000]{2,1,0} convolution(%x, %w), window={size=1000 stride=999 lhs_dilate=1000}, "
      "dim_labels=0fb_0io->0fb\n";
  const Timeline t = timed(scheduled_text(text), machine_of(hardware, 4, 1)).timeline;
  EXPECT_NEAR(t.kernels.product.value, 180.016e6 / (0.87 * 3.69e12), 1e-9);
}

/// 800 MB gathered among 8: 700 MB arrive at 100 GB/s, 7 ms and 12 us. Behind the product nothing is exposed, alone all.
TEST(ToyMachine, AGatherHidesBehindAProduct) {
  const std::string start = "  %shard = bf16[50000000]{0} iota(), iota_dimension=0\n"
                            "  %g = (bf16[50000000]{0}, bf16[400000000]{0}) all-gather-start(%shard)" + groups +
                            ", dimensions={0}\n";
  const std::string done = "  %d = bf16[400000000]{0} all-gather-done(%g)\n";
  const ProgramTimeline hidden = timed(scheduled_text(start + matmul + done), toy_machine());
  ASSERT_EQ(hidden.collectives.size(), 1U);
  EXPECT_NEAR(hidden.collectives[0].collective.seconds.value, 7.012e-3, precision);
  EXPECT_NEAR(hidden.collectives[0].window.value, 20.2e-3, precision);
  EXPECT_EQ(hidden.collectives[0].collective.exposed.value, 0);
  EXPECT_THAT(hidden.collectives[0].collective.axes, testing::ElementsAre(0));
  const ProgramTimeline alone = timed(scheduled_text(start + done + matmul), toy_machine());
  EXPECT_NEAR(alone.collectives[0].collective.exposed.value, 7.012e-3, precision);
  EXPECT_NEAR(alone.timeline.seconds.value, hidden.timeline.seconds.value + 7.012e-3, precision);
  EXPECT_EQ(alone.low, alone.timeline.seconds);  // halves leave nothing open
  EXPECT_EQ(alone.high, alone.timeline.seconds);
}

/// Where the text leaves open what a gather runs beside, the step lies between all that could hide and nothing.
TEST(ToyMachine, WhatIsOpenIsARange) {
  const std::string text = "  %shard = bf16[50000000]{0} iota(), iota_dimension=0\n" + matmul +
                           "  %g = bf16[400000000]{0} all-gather(%shard)" + groups + ", dimensions={0}\n" +
                           "  %u = bf16[] dot(%g, %g), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n";
  const ProgramTimeline timed_program = timed(scheduled_text(text), toy_machine());
  EXPECT_NEAR(timed_program.high.value - timed_program.low.value, 7.012e-3, precision);
  EXPECT_EQ(timed_program.timeline.seconds, timed_program.low);  // its compiler gathers asynchronously
}

const std::string stated =
    "  %k = f32[1000000]{0} broadcast(%p), dimensions={0}, backend_config={\"estimated_cycles\":\"2000000\"}\n";

TEST(ToyMachine, StatedCyclesComeFirstWhereThereIsAClock) {
  Machine machine = toy_machine();
  EXPECT_NEAR(timed(scheduled_text(stated), machine).timeline.compute.value, 4.000032e-6, precision);
  machine.hardware.clock = Figure{1e9, "GHz", "toy", Basis::assumed};
  EXPECT_NEAR(timed(scheduled_text(stated), machine).timeline.compute.value, 2e-3, precision);
}

// Where elementwise kernels were measured those are their traffic; what sorts, gathers or scatters is as stated.
TEST(ToyMachine, MeasuredElementwiseKernelsAreTheirTraffic) {
  Machine machine = toy_machine();
  machine.hardware.clock = Figure{1e9, "GHz", "toy", Basis::assumed};
  machine.hardware.elementwise_efficiency = Figure{0.5, "1", "toy", Basis::assumed};
  const auto seconds = [&](const std::string& text) { return timed(scheduled_text(text), machine).timeline.compute.value; };
  EXPECT_NEAR(seconds(stated), 2 * 4.000032e-6, precision);
  const std::string sorted = "  %x = f32[1000000]{0} iota(), iota_dimension=0\n"
                             "  %k = f32[1000000]{0} sort(%x), dimensions={0}, "
                             "backend_config={\"estimated_cycles\":\"2000000\"}\n";
  EXPECT_GT(seconds(sorted), 2e-3);
}

TEST(ToyMachine, CopiesToTheHostNeedItsLink) {
  const std::string copy = "  %x = f32[1000000]{0} iota(), iota_dimension=0\n"
                           "  %s = (f32[1000000]{0:S(5)}, f32[1000000]{0}, u32[]) copy-start(%x)\n"
                           "  %d = f32[1000000]{0:S(5)} copy-done(%s)\n";
  Machine machine = toy_machine();
  machine.hardware.host_link_bandwidth.reset();
  EXPECT_THROW(timed(scheduled_text(copy), machine), InputError);
  machine.hardware.host_link_bandwidth = Figure{1e9, "GB/s", "toy", Basis::assumed};
  EXPECT_NEAR(timed(scheduled_text(copy), machine).timeline.waited.value, 4e-3, precision);
}

/// 4 MB of a stack of four on the host are written, an element of a tuple by itself ("%t#1").
std::string put_on_host(const std::string& element) {
  const std::string stack = "f32[4,1000000]{1,0:S(5)}", slice = "f32[1,1000000]{1,0}";
  return scheduled_text("  %zero = s32[] constant(0)\n  %stack = " + stack + " iota(), iota_dimension=0\n  %x = " + slice +
                            " iota(), iota_dimension=1\n  %t = (f32[8]{0}, " + slice + ") tuple(%p, %x)\n  %s = ((" + stack +
                            ", " + slice + ", s32[]), " + stack + ", u32[]) async-start(%stack, " + element +
                            ", %zero), calls=%put\n  %d = " + stack + " async-done(%s)\n",
                        "%put (a: f32[4,1000000], b: f32[1,1000000], i: s32[]) -> f32[4,1000000] {\n  %a = " + stack +
                            " parameter(0)\n  %b = " + slice + " parameter(1)\n  %i = s32[] parameter(2)\n  ROOT %u = " +
                            stack + " dynamic-update-slice(%a, %b, %i, %i)\n}\n\n");
}

TEST(ToyMachine, SlicesOfAStackOnTheHostPassItsLink) {
  Machine machine = toy_machine();
  machine.hardware.host_link_bandwidth = Figure{1e9, "GB/s", "toy", Basis::assumed};
  EXPECT_NEAR(timed(put_on_host("%t#1"), machine).timeline.waited.value, 4e-3, precision);
  for (const char* absent : {"%t#2", "%x#0", "%y#0"})
    EXPECT_THROW(scheduled(put_on_host(absent)), InputError) << absent;
}

/// 2·64·16·32 flops a row tile and more: the rows that arrive, not those of the buffer.
TEST(ToyMachine, RaggedExchangesSayHowManyRowsAreValid) {
  const std::string gmm =
      "  %lhs = bf16[65536,4096]{1,0} iota(), iota_dimension=0\n  %rhs = bf16[4,4096,4096]{2,1,0} iota(), "
      "iota_dimension=0\n  %begins = s32[5]{0} iota(), iota_dimension=0\n"
      "  %gmm = bf16[65536,4096]{1,0} custom-call(%begins, %begins, %begins, %begins, %begins, %lhs, %rhs), "
      "custom_call_target=\"tpu_custom_call\"\n";
  const std::string exchange =
      "  %send = bf16[16384,4096]{1,0} iota(), iota_dimension=0\n"
      "  %r = bf16[65536,4096]{1,0} ragged-all-to-all(%send, %lhs)" + groups + "\n";
  const double all = timed(scheduled_text(gmm), toy_machine()).timeline.kernels.grouped_product.value;
  const double exchanged = timed(scheduled_text(gmm + exchange), toy_machine()).timeline.kernels.grouped_product.value;
  EXPECT_NEAR(all, 2.0 * 65536 * 4096 * 4096 / 1e14, precision);
  EXPECT_NEAR(exchanged, all / 4, precision);
}

}  // namespace
}  // namespace shardplan
