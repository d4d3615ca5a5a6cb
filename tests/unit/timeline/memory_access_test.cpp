// Bytes that kernels read and write.
#include <gmock/gmock.h>

#include <tests/unit/timeline/toy_programs.hpp>

namespace shardplan {
namespace {

/// Of the kernel of that name in the ENTRY computation.
std::int64_t traffic_of(const std::string& name, const std::string& instructions, const std::string& computations = "") {
  const ScheduledProgram read = scheduled(scheduled_text(instructions, computations));
  for (const auto& step : read.schedule.computations[read.program.entry])
    if (step.name == name) return step.work.traffic.value;
  return -1;
}

const std::string stack = "  %stack = f32[100,8]{1,0} iota(), iota_dimension=0\n  %i = s32[] constant(3)\n";

TEST(MemoryAccess, AKernelReadsItsOperandsAndWritesItsResult) {
  EXPECT_EQ(traffic_of("k", "  %k = f32[8]{0} add(%p, %p)\n"), 3 * 32);
}

TEST(MemoryAccess, ASliceReadsWhatItMakes) {
  EXPECT_EQ(traffic_of("k", stack + "  %k = f32[1,8]{1,0} dynamic-slice(%stack, %i, %i), dynamic_slice_sizes={1,8}\n"),
            2 * 32);
}

TEST(MemoryAccess, AnUpdateInPlaceTouchesItsPart) {
  EXPECT_EQ(traffic_of("k", stack + "  %row = f32[1,8]{1,0} bitcast(%p)\n"
                                    "  %k = f32[100,8]{1,0} dynamic-update-slice(%stack, %row, %i, %i)\n"),
            2 * 32);
  EXPECT_EQ(traffic_of("k", stack + "  %at = s32[1,1]{1,0} bitcast(%i)\n  %row = f32[1,8]{1,0} bitcast(%p)\n"
                                    "  %k = f32[100,8]{1,0} scatter(%stack, %at, %row), to_apply=%sum\n",
                       "%sum (x: f32[], y: f32[]) -> f32[] {\n  %x = f32[] parameter(0)\n  %y = f32[] parameter(1)\n"
                       "  ROOT %s = f32[] add(%x, %y)\n}\n\n"),
            2 * 32);
}

/// A fusion that takes a row of a stack, casts it and multiplies: a row and p read, a row of half the width written.
TEST(MemoryAccess, AFusionReadsTheSlicesThatItUses) {
  const std::string fused =
      "%fused (a: f32[100,8], b: s32[], c: f32[1,8]) -> bf16[1,8] {\n"
      "  %a = f32[100,8]{1,0} parameter(0)\n  %b = s32[] parameter(1)\n  %c = f32[1,8]{1,0} parameter(2)\n"
      "  %whole = f32[100,8]{1,0} convert(%a)\n"
      "  %d = f32[1,8]{1,0} dynamic-slice(%whole, %b, %b), dynamic_slice_sizes={1,8}\n"
      "  %m = f32[1,8]{1,0} multiply(%d, %c)\n"
      "  ROOT %r = bf16[1,8]{1,0} convert(%m)\n}\n\n";
  EXPECT_EQ(traffic_of("k", stack + "  %row = f32[1,8]{1,0} bitcast(%p)\n"
                                    "  %k = bf16[1,8]{1,0} fusion(%stack, %i, %row), kind=kLoop, calls=%fused\n",
                       fused),
            32 + 4 + 32 + 16);
}

/// XLA:TPU lays a stack out anew inside of the kernel that takes a row of it, in a fusion of its own.
TEST(MemoryAccess, AFusionInsideThatOnlyLaysOutReadsNoMoreThanIsUsed) {
  const std::string fused =
      "%laid_out (q: f32[100,8]) -> f32[100,8] {\n"
      "  %q = f32[100,8]{1,0:T(8,128)} parameter(0)\n"
      "  ROOT %t = f32[100,8]{1,0:T(16,128)} copy(%q)\n}\n\n"
      "%fused (a: f32[100,8], b: s32[]) -> f32[1,8] {\n"
      "  %a = f32[100,8]{1,0} parameter(0)\n  %b = s32[] parameter(1)\n"
      "  %whole = f32[100,8]{1,0} fusion(%a), kind=kLoop, calls=%laid_out\n"
      "  ROOT %d = f32[1,8]{1,0} dynamic-slice(%whole, %b, %b), dynamic_slice_sizes={1,8}\n}\n\n";
  EXPECT_EQ(traffic_of("k", stack + "  %k = f32[1,8]{1,0} fusion(%stack, %i), kind=kLoop, calls=%fused\n", fused),
            32 + 4 + 32);
}

/// One that computes reads all that it is given.
TEST(MemoryAccess, AFusionInsideThatComputesReadsItsOperandWhole) {
  const std::string fused =
      "%doubled (q: f32[100,8]) -> f32[100,8] {\n"
      "  %q = f32[100,8]{1,0} parameter(0)\n"
      "  ROOT %t = f32[100,8]{1,0} add(%q, %q)\n}\n\n"
      "%fused (a: f32[100,8], b: s32[]) -> f32[1,8] {\n"
      "  %a = f32[100,8]{1,0} parameter(0)\n  %b = s32[] parameter(1)\n"
      "  %whole = f32[100,8]{1,0} fusion(%a), kind=kLoop, calls=%doubled\n"
      "  ROOT %d = f32[1,8]{1,0} dynamic-slice(%whole, %b, %b), dynamic_slice_sizes={1,8}\n}\n\n";
  EXPECT_EQ(traffic_of("k", stack + "  %k = f32[1,8]{1,0} fusion(%stack, %i), kind=kLoop, calls=%fused\n", fused),
            3200 + 4 + 32);
}

/// Slices of stacks in the host's memory, as opcodes of their own: what moves is the slice.
TEST(MemoryAccess, SlicesThatStartAndEndMoveThemselves) {
  const std::string stack_on_host = "  %stack = f32[100,8]{1,0:S(5)} iota(), iota_dimension=0\n  %i = s32[] constant(3)\n";
  EXPECT_EQ(traffic_of("k", stack_on_host +
                                "  %k = ((f32[100,8]{1,0:S(5)}, s32[], s32[]), f32[1,8]{1,0}, u32[]) "
                                "dynamic-slice-start(%stack, %i, %i), dynamic_slice_sizes={1,8}\n"
                                "  %d = f32[1,8]{1,0} dynamic-slice-done(%k)\n"),
            32);
  EXPECT_EQ(traffic_of("k", stack_on_host +
                                "  %row = f32[1,8]{1,0} bitcast(%p)\n"
                                "  %k = ((f32[100,8]{1,0:S(5)}, f32[1,8]{1,0}, s32[], s32[]), f32[100,8]{1,0:S(5)}, "
                                "u32[]) dynamic-update-slice-start(%stack, %row, %i, %i)\n"
                                "  %d = f32[100,8]{1,0:S(5)} dynamic-update-slice-done(%k)\n"),
            32);
}

TEST(MemoryAccess, ASliceOfNothingMovesNothing) {
  EXPECT_EQ(traffic_of("k", "  %k = () dynamic-update-slice-start(%p)\n"), 0);
}

/// One that writes a row into a stack and passes another operand on: reads the row and its place, writes the row.
TEST(MemoryAccess, AFusionThatUpdatesInPlaceWritesItsUpdate) {
  const std::string fused =
      "%fused (a: f32[100,8], b: s32[], c: f32[1,8]) -> (f32[100,8], f32[1,8]) {\n"
      "  %a = f32[100,8]{1,0} parameter(0)\n  %b = s32[] parameter(1)\n  %c = f32[1,8]{1,0} parameter(2)\n"
      "  %u = f32[100,8]{1,0} dynamic-update-slice(%a, %c, %b, %b)\n"
      "  ROOT %r = (f32[100,8]{1,0}, f32[1,8]{1,0}) tuple(%u, %c)\n}\n\n";
  EXPECT_EQ(traffic_of("k", stack + "  %row = f32[1,8]{1,0} bitcast(%p)\n"
                                    "  %k = (f32[100,8]{1,0}, f32[1,8]{1,0}) fusion(%stack, %i, %row), kind=kLoop, "
                                    "calls=%fused\n",
                       fused),
            32 + 4 + 32);
}

}  // namespace
}  // namespace shardplan
