// Recorded programs: what they communicate is what count_traffic counts, and the kernels' cycles are those that the
// compiler's own estimate sums up.
#include <gmock/gmock.h>

#include <compilers/load_compiler.hpp>
#include <hardware/load_profile.hpp>
#include <hardware/machine_of_chips.hpp>
#include <planner/audit/program_timeline.hpp>
#include <audit/program_traffic.hpp>

namespace shardplan {
namespace {

struct Recorded {
  ScheduledProgram scheduled;
  ProgramTraffic traffic;
  ProgramTimeline timeline;
};

/// `as_stated`: elementwise kernels too.
Recorded timed(const std::string& id, const std::string& hardware, int chips, const std::string& flags = "",
               bool as_stated = false) {
  Recorded recorded{read_scheduled_file(TEST_DATA "/audit/" + id + ".hlo.gz"), {}, {}};
  const Mesh mesh = mesh_of_program(recorded.scheduled.program);
  HardwareProfile profile = load_profile(hardware);
  if (as_stated) profile.elementwise_efficiency.reset();
  const Machine machine = machine_of(profile, chips, 1);
  LinkPrices links(machine, mesh);
  recorded.traffic = count_traffic(recorded.scheduled.program, mesh);
  recorded.timeline =
      time_program(recorded.scheduled, machine, load_compiler(machine.hardware.compiler, flags), mesh, links);
  return recorded;
}

struct Case {
  std::string id, hardware;
  int chips;
};

class RecordedTimeline : public testing::TestWithParam<Case> {};

TEST_P(RecordedTimeline, RunsEveryCollectiveAsOftenAsItIsCounted) {
  const Recorded r = timed(GetParam().id, GetParam().hardware, GetParam().chips);
  std::int64_t counted = 0, walked = 0, executions = 0, walked_executions = 0;
  for (const auto& entry : r.traffic.collectives) {
    counted += entry.collective.bytes.value * entry.collective.executions;
    executions += entry.collective.executions;
  }
  for (const auto& timed_collective : r.timeline.collectives) {
    walked += timed_collective.collective.bytes.value * timed_collective.collective.executions;
    walked_executions += timed_collective.collective.executions;
  }
  EXPECT_EQ(walked, counted);
  EXPECT_EQ(walked_executions, executions);
}

TEST_P(RecordedTimeline, IsWhatItsTraceAddsUpTo) {
  const Timeline timeline = timed(GetParam().id, GetParam().hardware, GetParam().chips).timeline.timeline;
  double compute = 0, network = 0, collectives = 0;
  for (const TracedSpan& span : timeline.trace) {
    const double seconds = span.span.length().value * static_cast<double>(span.executions);
    if (span.lane == Lane::compute) compute += seconds;
    if (span.lane == Lane::network) network += seconds;
  }
  for (const auto& collective : timeline.collectives) collectives += collective.seconds.value;
  EXPECT_NEAR(compute, timeline.seconds.value, 1e-9 * timeline.seconds.value);
  EXPECT_NEAR(network, collectives, 1e-9 * collectives);
}

TEST_P(RecordedTimeline, IsTheSumOfItsParts) {
  const ProgramTimeline timeline = timed(GetParam().id, GetParam().hardware, GetParam().chips).timeline;
  const Timeline& t = timeline.timeline;
  double exposed = 0;
  for (const auto& collective : timeline.collectives) {
    exposed += collective.collective.exposed.value;
    EXPECT_GE(collective.collective.exposed.value, 0) << collective.instruction;
  }
  EXPECT_NEAR(exposed, t.exposed.value, 1e-9);
  EXPECT_NEAR(t.kernels.product.value + t.kernels.grouped_product.value + t.kernels.attention.value +
                  t.kernels.vector.value + t.kernels.contention.value,
              t.compute.value, 1e-9);
  EXPECT_NEAR(t.compute.value + t.exposed.value + t.waited.value, t.seconds.value, 1e-9);
  EXPECT_LE(timeline.low, t.seconds);
  EXPECT_GE(timeline.high, t.seconds);
  EXPECT_THAT(t.unknown, testing::IsEmpty());
  EXPECT_THAT(t.uncounted_loops, testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Compiled, RecordedTimeline,
                         testing::Values(Case{"ds16_7x8_ep4fsdp2", "tpu-7x", 4}, Case{"h100_ll7_pp2fsdp4", "h100", 8},
                                         Case{"h100_mx_ep8_dm", "h100", 8}, Case{"ll7_v5p4_pp2_fsdp2", "tpu-v5p", 4},
                                         Case{"ll8_v5p8_tp4fsdp2", "tpu-v5p", 8},
                                         Case{"mi355_mx_ep8_fix", "mi355x", 8}, Case{"mx7_v5p8_ep8_dm", "tpu-v5p", 8},
                                         Case{"mx7_v5p8_ep8_fix", "tpu-v5p", 8}),
                         [](const auto& row) { return row.param.id; });

/// What the compiler's estimates sum up to over the clock, recorded when the programs were compiled; beside them a few
/// kernels without an estimate.
struct Stated {
  Case program;
  std::string flags;  ///< under which the chip runs at its fastest clock
  double products, other;
};

TEST(RecordedTimeline, KernelsTakeTheCyclesThatTheCompilerStates) {
  for (const auto& [program, flags, products, other] :
       {Stated{{"mx7_v5p8_ep8_dm", "tpu-v5p", 8}, "", 0.20922, 0.043142},
        Stated{{"ll8_v5p8_tp4fsdp2", "tpu-v5p", 8}, "", 1.169804, 0.242281},
        Stated{{"ds16_7x8_ep4fsdp2", "tpu-7x", 4}, "--xla_tpu_dvfs_p_state=7", 0.105773, 0.5296535}}) {
    const Timeline t = timed(program.id, program.hardware, program.chips, flags, true).timeline.timeline;
    EXPECT_NEAR(t.kernels.product.value / products, 1, 0.001) << program.id;
    EXPECT_NEAR(t.kernels.vector.value / other, 1, 0.1) << program.id;
  }
}

/// Elementwise kernels are bound by HBM, which takes less than half of what is stated.
TEST(RecordedTimeline, ElementwiseKernelsTakeTheirTrafficWhereThatWasMeasured) {
  const auto other = [](bool as_stated) {
    return timed("ll8_v5p8_tp4fsdp2", "tpu-v5p", 8, "", as_stated).timeline.timeline.kernels.vector.value;
  };
  EXPECT_LT(other(false), 0.7 * other(true));
  EXPECT_GT(other(false), 0.2 * other(true));
}

/// Of the stolen expert axis the gathers and reductions of expert weights are what an H100 waits for.
TEST(RecordedTimeline, NamesWhatIsExposedMost) {
  const ProgramTimeline timeline = timed("h100_mx_ep8_dm", "h100", 8).timeline;
  double weights = 0;
  for (const auto& timed_collective : timeline.collectives)
    if (timed_collective.collective.bytes.value > 900'000'000) weights += timed_collective.collective.exposed.value;
  EXPECT_GT(weights, 0.8 * timeline.timeline.exposed.value);
}

}  // namespace
}  // namespace shardplan
