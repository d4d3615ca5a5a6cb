// Programs whose windows can be computed in the head. Seconds are whole numbers.
#include <gmock/gmock.h>

#include <tests/unit/timeline/toy_programs.hpp>

namespace shardplan {
namespace {

TEST(WalkSchedule, AGatherHidesBehindWhatIsBetweenItsHalves) {
  const Timeline t = walked(scheduled_text(gather_start("g") + kernel("a") + kernel("b") + gather_done("g")),
                            {{"g", 20}, {"a", 10}, {"b", 5}});
  EXPECT_EQ(t.seconds.value, 20);
  EXPECT_EQ(t.compute.value, 15);
  EXPECT_EQ(t.exposed.value, 5);
  ASSERT_EQ(t.collectives.size(), 1U);
  EXPECT_TRUE(t.collectives[0].asynchronous);
  EXPECT_EQ(t.collectives[0].executions, 1);
  EXPECT_EQ(t.collectives[0].seconds.value, 20);
  EXPECT_EQ(t.collectives[0].window.value, 15);
  EXPECT_EQ(t.collectives[0].exposed.value, 5);
}

TEST(WalkSchedule, NothingIsExposedOfOneThatEndsInTime) {
  const Timeline t = walked(scheduled_text(gather_start("g") + kernel("a") + gather_done("g")), {{"g", 7}, {"a", 10}});
  EXPECT_EQ(t.seconds.value, 10);
  EXPECT_EQ(t.collectives[0].exposed.value, 0);
}

/// Beside 16 s of a gather on a quarter of the processors 12 s of a kernel are done; the other 8 s it has all of them.
TEST(WalkSchedule, KernelsTakeLongerBesideCollectivesOnTheirProcessors) {
  const Timeline t = walked(scheduled_text(gather_start("g") + kernel("a") + gather_done("g") + kernel("b")),
                            {{"g", 16}, {"a", 20}, {"b", 5}}, {}, 0.25);
  EXPECT_EQ(t.seconds.value, 24 + 5);
  EXPECT_EQ(t.compute.value, 24 + 5);
  EXPECT_EQ(t.kernels.vector.value, 20 + 5);
  EXPECT_EQ(t.kernels.contention.value, 4);
  EXPECT_EQ(t.exposed.value, 0);
}

TEST(WalkSchedule, ASynchronousCollectiveIsAllExposed) {
  const Timeline t = walked(scheduled_text(kernel("a") + whole_gather("g", true) + kernel("b")),
                            {{"g", 20}, {"a", 10}, {"b", 5}});
  EXPECT_EQ(t.seconds.value, 35);
  EXPECT_EQ(t.collectives[0].window.value, 0);
  EXPECT_EQ(t.collectives[0].exposed.value, 20);
  EXPECT_FALSE(t.collectives[0].asynchronous);
}

/// The second begins at 20, when the first has ended, and ends at 30. The device waits for it from 12 on: 8 are the
/// first's, which is on the network till then.
TEST(WalkSchedule, TheNetworkTakesOneAtATime) {
  const Timeline t =
      walked(scheduled_text(gather_start("g") + gather_start("h") + kernel("a") + gather_done("h") + gather_done("g")),
             {{"g", 20}, {"h", 10}, {"a", 12}});
  EXPECT_EQ(t.seconds.value, 30);
  EXPECT_EQ(t.collectives[0].exposed.value, 8);
  EXPECT_EQ(t.collectives[1].exposed.value, 10);
  EXPECT_EQ(t.collectives[1].window.value, 12);
}

std::string loop(const std::string& name, const std::string& body, int trips) {
  return fmt::format("  %{} = f32[8]{{0}} while(%p), condition=%cond, body=%{}, "
                     "backend_config={{\"known_trip_count\":{{\"n\":\"{}\"}}}}\n",
                     name, body, trips);
}

const std::string condition =
    "%cond (c: f32[8]) -> pred[] {\n  %c = f32[8]{0} parameter(0)\n  ROOT %t = pred[] constant(true)\n}\n\n";

TEST(WalkSchedule, LoopsRunAsOftenAsTheySay) {
  const std::string inner = body_text("inner", kernel("b"));
  const std::string outer =
      body_text("outer", gather_start("g") + kernel("a") + gather_done("g") + loop("small", "inner", 3));
  const Timeline t = walked(scheduled_text(kernel("c") + loop("large", "outer", 5), condition + inner + outer),
                            {{"g", 7}, {"a", 5}, {"b", 2}, {"c", 1}});
  EXPECT_EQ(t.seconds.value, 1 + 5 * (7 + 3 * 2));
  EXPECT_EQ(t.exposed.value, 5 * 2);
  EXPECT_EQ(t.collectives[0].executions, 5);
  EXPECT_EQ(t.collectives[0].window.value, 5 * 5);
  EXPECT_EQ(t.collectives[0].loop, "large");
  ASSERT_EQ(t.loops.size(), 2U);
  EXPECT_EQ(t.loops[0].name, "large");
  EXPECT_EQ(t.loops[0].runs, 5);
  EXPECT_EQ(t.loops[0].seconds.value, 65);
  EXPECT_EQ(t.loops[1].depth, 1);
  EXPECT_EQ(t.loops[1].runs, 15);
  EXPECT_EQ(t.loops[1].seconds.value, 30);
}

/// A loop is drawn as its first run and one for the others: 1, then twice 7 + 2·2, the inner loop's two in each.
TEST(WalkSchedule, ATraceHasALoopsFirstRunAndOneForTheOthers) {
  const std::string inner = body_text("inner", kernel("b"));
  const std::string outer =
      body_text("outer", gather_start("g") + kernel("a") + gather_done("g") + loop("small", "inner", 3));
  const Timeline t = walked(scheduled_text(kernel("c") + loop("large", "outer", 5), condition + inner + outer),
                            {{"g", 7}, {"a", 5}, {"b", 2}, {"c", 1}});
  double seconds = 0, end = 0;
  std::vector<std::int64_t> runs_of_b;
  for (const TracedSpan& span : t.trace) {
    if (span.name == "b") runs_of_b.push_back(span.executions);
    if (span.lane != Lane::compute) continue;
    EXPECT_EQ(span.span.begin.value, end) << span.name << " follows the one before";
    end = span.span.end.value;
    seconds += span.span.length().value * static_cast<double>(span.executions);
  }
  EXPECT_EQ(seconds, t.seconds.value);
  EXPECT_EQ(end, 1 + 2 * (7 + 2 * 2));
  EXPECT_THAT(runs_of_b, testing::ElementsAre(1, 2, 4, 8));
}

/// What is issued in front of a loop runs beside it, and keeps the network from the loop's first run alone: 4 more.
TEST(WalkSchedule, ALoopFindsTheNetworkAsItIs) {
  const std::string body = body_text("body", whole_gather("g", true));
  const Timeline t =
      walked(scheduled_text(gather_start("h") + loop("l", "body", 3) + gather_done("h"), condition + body),
             {{"g", 2}, {"h", 4}});
  EXPECT_EQ(t.seconds.value, 4 + 3 * 2);
}

TEST(WalkSchedule, ALoopOfUnknownTripsIsNamed) {
  const std::string body = body_text("body", kernel("a"));
  const Timeline t = walked(
      scheduled_text("  %l = f32[8]{0} while(%p), condition=%cond, body=%body\n", condition + body), {{"a", 3}});
  EXPECT_EQ(t.seconds.value, 3);
  EXPECT_THAT(t.uncounted_loops, testing::ElementsAre("l"));
}

TEST(WalkSchedule, OfBranchesTheLongestRuns) {
  const std::string branches = body_text("one", kernel("a")) + body_text("two", kernel("b"));
  const Timeline t = walked(scheduled_text("  %i = s32[] constant(0)\n  %c = f32[8]{0} conditional(%i, %p, %p), "
                                           "branch_computations={%one, %two}\n",
                                           branches),
                            {{"a", 3}, {"b", 4}});
  EXPECT_EQ(t.seconds.value, 4);
}

/// A loop runs as often as it says; of branches inside of one the longest does.
TEST(WalkSchedule, OfBranchesTheOneWhoseLoopIsLongest) {
  const std::string callees = condition + body_text("body", kernel("a")) + body_text("one", loop("l", "body", 100)) +
                              body_text("two", kernel("b"));
  const Timeline t = walked(scheduled_text("  %i = s32[] constant(0)\n  %c = f32[8]{0} conditional(%i, %p, %p), "
                                           "branch_computations={%one, %two}\n",
                                           callees),
                            {{"a", 3}, {"b", 4}});
  EXPECT_EQ(t.seconds.value, 300);
}

/// XLA:TPU hands operands over behind the start; what it offloads runs on a SparseCore.
TEST(WalkSchedule, AnOffloadedCallBeginsWithItsOperands) {
  const std::string callee = body_text("offloaded", whole_gather("g", false));
  const std::string text = scheduled_text(
      "  %s = ((), (), (s32[1]{0})) call-start(), async_execution_thread=\"sparsecore\", to_apply=%offloaded\n" +
          kernel("a") + "  %u = ((f32[8]{0}), f32[8]{0}) call-update(%s, %p)\n" + kernel("b") +
          "  %d = f32[8]{0} call-done(%u)\n",
      callee);
  const Timeline t = walked(text, {{"g", 10}, {"a", 3}, {"b", 4}});
  EXPECT_EQ(t.seconds.value, 13);
  EXPECT_EQ(t.collectives[0].window.value, 4);
  EXPECT_EQ(t.collectives[0].exposed.value, 6);
}

TEST(WalkSchedule, CopiesHaveAnEngineOfTheirOwn) {
  const std::string copy = "  %s = (f32[8]{0:S(1)}, f32[8]{0}, u32[]) copy-start(%p)\n";
  const std::string done = "  %d = f32[8]{0:S(1)} copy-done(%s)\n";
  const Timeline t = walked(scheduled_text(copy + gather_start("g") + kernel("a") + gather_done("g") + done),
                            {{"s", 10}, {"g", 6}, {"a", 4}});
  EXPECT_EQ(t.exposed.value, 2);
  EXPECT_EQ(t.waited.value, 4);
  EXPECT_EQ(t.seconds.value, 10);
}

/// The GPU's other streams share its processors: an asynchronous kernel takes its time where it starts.
TEST(WalkSchedule, AnAsynchronousFusionIsComputed) {
  const std::string fused = body_text("fused", "  %n = f32[8]{0} negate(%p)\n");
  const Timeline t = walked(scheduled_text("  %s = ((f32[8]{0}), f32[8]{0}, u32[]) fusion-start(%p), kind=kLoop, "
                                           "calls=%fused\n" +
                                               kernel("a") + "  %d = f32[8]{0} fusion-done(%s)\n",
                                           fused),
                            {{"s", 5}, {"a", 3}});
  EXPECT_EQ(t.compute.value, 8);
  EXPECT_EQ(t.seconds.value, 8);
}

OpenRules gathers_hide(int window) {
  OpenRules rules;
  rules.asynchronous.set(CollectiveKind::all_gather, true);
  rules.window = window;
  return rules;
}

/// Behind one product of 4, behind both, not at all.
TEST(WalkSchedule, WhatTheTextLeavesOpenIsARule) {
  const std::string text =
      scheduled_text(product("a") + product("b") + whole_gather("g", false) + "  %u = f32[8]{0} slice(%g)\n" +
                     product("c", "u"));
  const NamedSeconds seconds = {{"a", 3}, {"b", 4}, {"g", 10}, {"c", 5}};
  EXPECT_EQ(walked(text, seconds, gathers_hide(1)).exposed.value, 6);
  EXPECT_EQ(walked(text, seconds, gathers_hide(0)).exposed.value, 3);
  EXPECT_EQ(walked(text, seconds).exposed.value, 10);
}

TEST(WalkSchedule, WhatTheCompilerSettledNoRuleChanges) {
  const std::string text = scheduled_text(product("a") + whole_gather("g", true));
  EXPECT_EQ(walked(text, {{"a", 3}, {"g", 10}}, gathers_hide(0)).exposed.value, 10);
}

}  // namespace
}  // namespace shardplan
