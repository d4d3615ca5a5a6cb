#include <gmock/gmock.h>

#include <shardplan/error.hpp>
#include <tests/unit/audit/small_programs.hpp>

namespace shardplan {
namespace {

using testing::HasSubstr;

const std::string body =
    "%body (t: (s32[], f32[8])) -> (s32[], f32[8]) {\n  %t = (s32[], f32[8]) parameter(0)\n"
    "  %v = f32[8]{0} get-tuple-element(%t), index=1\n"
    "  %r = f32[8]{0} all-reduce(%v), replica_groups=[2,4]<=[8]\n  ROOT %u = (s32[], f32[8]) tuple(%t)\n}\n\n";

std::string condition(const std::string& instructions) {
  return "%condition (t.1: (s32[], f32[8])) -> pred[] {\n  %t.1 = (s32[], f32[8]) parameter(0)\n"
         "  %i = s32[] get-tuple-element(%t.1), index=0\n" +
         instructions + "}\n\n";
}

std::string loop(const std::string& attributes) {
  return "  %w = (s32[], f32[8]) while(%p), condition=%condition, body=%body, "
         "metadata={op_name=\"jit(f)/transpose(jvp())/while\"}" +
         attributes + "\n";
}

std::string times(int executions) {
  return fmt::format("backward all-reduce tensor of 4, 32 B x {}: while\n", executions);
}

TEST(Loops, RunAsOftenAsTheCompilerRecorded) {
  const std::string unknown = condition("  ROOT %c = pred[] custom-call(%i)\n");
  for (const auto* record :
       {R"(, backend_config={"known_trip_count":{"n":"32"},"known_init_step":{"init":"0","step":"1"}})",
        R"(, backend_config="{\"known_trip_count\":{\"n\":\"32\"}}")"})
    EXPECT_EQ(summary_of(program_text(loop(record), body + unknown)), times(32)) << record;
}

TEST(Loops, RunAsOftenAsTheirConditionSays) {
  const std::string fused =
      "%fused_compare (q: s32[]) -> pred[] {\n  %q = s32[] parameter(0)\n  %n.1 = s32[] constant(9)\n"
      "  ROOT %lt.1 = pred[] compare(%q, %n.1), direction=LT\n}\n\n";
  const std::string fused_with_argument =
      "%fused_compare (q: s32[], b: s32[]) -> pred[] {\n  %q = s32[] parameter(0)\n  %b = s32[] parameter(1)\n"
      "  ROOT %lt.1 = pred[] compare(%q, %b), direction=LT\n}\n\n";
  struct Row {
    std::string before, instructions;
    int times;
  };
  for (const auto& [before, instructions, executions] : {
           Row{"", "  %n = s32[]{:T(128)} constant(4)\n  ROOT %c = pred[] compare(%i, %n), direction=LT\n", 4},
           Row{"", "  %n = s32[] constant(4)\n  ROOT %c = pred[] compare(%i, %n), direction=LE\n", 5},
           Row{"", "  %n = s32[] constant(4)\n  ROOT %c = pred[] compare(%n, %i), direction=GT\n", 4},
           Row{"",
               "  %n = s32[] constant(4)\n  %m = s32[] copy(%n)\n  ROOT %c = pred[] compare(%i, %m), direction=LT\n",
               4},
           Row{fused, "  ROOT %c = pred[] fusion(%i), kind=kLoop, calls=%fused_compare\n", 9},
           Row{fused_with_argument,
               "  %n = s32[] constant(7)\n  ROOT %c = pred[] fusion(%i, %n), kind=kLoop, calls=%fused_compare\n", 7},
       })
    EXPECT_EQ(summary_of(program_text(loop(""), body + before + condition(instructions))), times(executions))
        << instructions;
}

/// Host offload peels the first trip off: the counter starts at 1 (recorded: ll8_v6e8_fsdp8_act_offload).
TEST(Loops, RunFromWhereTheirCounterStarts) {
  const std::string below = condition("  %n = s32[] constant(4)\n  ROOT %c = pred[] compare(%i, %n), direction=LT\n");
  const auto from = [&](const std::string& start) {
    return summary_of(program_text(start + "  %s = (s32[], f32[8]) tuple(%i.0, %p)\n" +
                                       "  %w = (s32[], f32[8]) while(%s), condition=%condition, body=%body, "
                                       "metadata={op_name=\"jit(f)/transpose(jvp())/while\"}\n",
                                   body + below));
  };
  EXPECT_EQ(from("  %i.0 = s32[] constant(0)\n"), times(4));
  EXPECT_EQ(from("  %one = s32[]{:T(128)} constant(1)\n  %i.0 = s32[]{:T(128)} copy(%one)\n"), times(3));
  EXPECT_EQ(from("  %i.0 = s32[] custom-call(%p)\n"), times(4)) << "unknown: from 0";

  const std::string element = "  %n = s32[] constant(4)\n  ROOT %c = pred[] compare(%t.1#0, %n), direction=LT\n";
  EXPECT_EQ(summary_of(program_text("  %one = s32[] constant(1)\n  %p.1 = (s32[], f32[8]) tuple(%one, %p)\n" +
                                        std::string("  %w = (s32[], f32[8]) while(%p.1), condition=%condition, "
                                                    "body=%body, metadata={op_name=\"jit(f)/transpose(jvp())/while\"}\n"),
                                    body + condition(element))),
            times(3))
      << "an element without an instruction of its own";
}

TEST(Loops, OfACopyOfACopyOfItselfHaveNoKnownBound) {
  const std::string circle = condition("  %a = pred[] copy(%b)\n  ROOT %b = pred[] copy(%a)\n");
  EXPECT_THAT([&] { summary_of(program_text(loop(""), body + circle)); }, testing::Throws<InputError>());
}

TEST(Loops, InLoopsMultiply) {
  const std::string inner =
      body + condition("  %n = s32[] constant(4)\n  ROOT %c = pred[] compare(%i, %n), direction=LT\n");
  const std::string outer = "%outer (t.2: f32[8]) -> f32[8] {\n  %p = f32[8]{0} parameter(0)\n" + loop("") +
                            "  ROOT %z = f32[8] copy(%p)\n}\n\n";
  EXPECT_EQ(summary_of(program_text("  %y = f32[8] while(%p), condition=%condition, body=%outer, "
                                    "backend_config={\"known_trip_count\":{\"n\":\"3\"}}\n",
                                    inner + outer)),
            times(12));
}

TEST(Loops, OfUnknownTripsAreAnErrorThatNamesThem) {
  for (const auto* instructions :
       {"  ROOT %c = pred[] compare(%i, %i), direction=LT\n",
        "  %n = s32[] constant(4)\n  %d = pred[] compare(%i, %n), direction=LT\n  ROOT %c = pred[] and(%d, %d)\n",
        "  %n = s32[] constant(4)\n  ROOT %c = pred[] compare(%i, %n), direction=GT\n"})
    try {
      summary_of(program_text(loop(""), body + condition(instructions)));
      ADD_FAILURE() << instructions;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("loop w communicates"));
    }
}

TEST(Loops, OfMalformedTripsAreAnError) {
  const std::string unknown = condition("  ROOT %c = pred[] custom-call(%i)\n");
  for (const auto* trips : {"-4", "1.5", "abc", "", "4x"})
    try {
      summary_of(program_text(
          loop(fmt::format(R"(, backend_config={{"known_trip_count":{{"n":"{}"}}}})", trips)), body + unknown));
      ADD_FAILURE() << trips;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("malformed known_trip_count")) << trips;
    }
}

TEST(Loops, ThatDontCommunicateMayRunAsOftenAsTheyLike) {
  const std::string quiet = "%body (t: f32[8]) -> f32[8] {\n  ROOT %t = f32[8] parameter(0)\n}\n\n";
  EXPECT_EQ(summary_of(program_text(loop(""), quiet + condition("  ROOT %c = pred[] custom-call(%i)\n"))), "");
}

TEST(Loops, OfPermutesCanStandForAGather) {
  const std::string ring =
      "%wide.windowed_dot_general_body_ag.2 (t: f32[8]) -> f32[8] {\n  %t = f32[8] parameter(0)\n"
      "  ROOT %s = f32[8] collective-permute(%t), source_target_pairs={{0,1},{1,2},{2,3},{3,0}}\n}\n\n";
  const auto traffic = count_traffic(
      read_hlo(
          lines_of(program_text("  %y = f32[8] while(%p), condition=%c, body=%wide.windowed_dot_general_body_ag.2, "
                                "backend_config={\"known_trip_count\":{\"n\":\"4\"}}\n",
                                ring))),
      mesh_2x4());
  ASSERT_EQ(traffic.collectives.size(), 1U);
  EXPECT_EQ(traffic.collectives[0].ring, RingOf::all_gather);
  EXPECT_EQ(traffic.collectives[0].collective.executions, 4);
}

}  // namespace
}  // namespace shardplan
