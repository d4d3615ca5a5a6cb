// Recorded programs of two compilers: phase, kind, axes, bytes and executions of every collective from 4 KiB on agree
// with what was recorded when they were compiled.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <tests/unit/audit/small_programs.hpp>

namespace shardplan {
namespace {

constexpr std::int64_t recorded_from = 4096;  ///< bytes

/// phase, kind, axes, bytes → executions
using Counts = std::map<std::string, std::int64_t>;

Counts recorded(const std::string& id) {
  Counts counts;
  const auto record = nlohmann::json::parse(std::ifstream(RECORDS "/" + id + ".json"));
  for (const auto& c : record["collectives"]) {
    std::string axes;
    for (const auto& axis : c["axes"]) axes += (axes.empty() ? "" : "+") + axis.get<std::string>();
    counts[fmt::format("{} {} {} {}", c["phase"].get<std::string>(), c["kind"].get<std::string>(), axes,
                       c["bytes"].get<std::int64_t>())] += c["executions"].get<std::int64_t>();
  }
  return counts;
}

Counts read(const std::string& id) {
  Counts counts;
  const HloProgram program = read_hlo_file(TEST_DATA "/audit/" + id + ".hlo.gz");
  const ProgramTraffic traffic = count_traffic(program, mesh_of_program(program));
  for (const auto& entry : traffic.collectives) {
    const Collective& c = entry.collective;
    if (c.bytes.value < recorded_from) continue;
    std::string axes;
    for (const AxisId axis : c.axes) axes += (axes.empty() ? "" : "+") + traffic.mesh.axes[axis].name;
    counts[fmt::format("{} {} {} {}", name_of(c.phase), name_of(c.kind), axes, c.bytes.value)] += c.executions;
  }
  return counts;
}

class RecordedProgram : public testing::TestWithParam<std::string> {};

TEST_P(RecordedProgram, IsCountedAsRecorded) {
  const Counts expected = recorded(GetParam());
  EXPECT_GT(expected.size(), 15U);
  EXPECT_EQ(read(GetParam()), expected);
}

// XLA:TPU's combined reductions are fused with their slices (ll8_v5p8_tp4fsdp2); XLA:GPU's gathers are tuples.
TEST_P(RecordedProgram, PartsOfCombinedCollectivesAddUp) {
  const HloProgram program = read_hlo_file(TEST_DATA "/audit/" + GetParam() + ".hlo.gz");
  for (const auto& entry : count_traffic(program, mesh_of_program(program)).collectives) {
    if (entry.parts.empty()) continue;
    Bytes sum;
    for (const CollectivePart& part : entry.parts) sum += part.bytes;
    EXPECT_EQ(sum, entry.collective.bytes) << entry.collective.why;
  }
}

INSTANTIATE_TEST_SUITE_P(Compiled, RecordedProgram,
                         testing::Values("ds16_7x8_ep4fsdp2", "h100_ll7_pp2fsdp4", "h100_mx_ep8_dm",
                                         "ll7_v5p4_pp2_fsdp2", "ll8_v5p8_tp4fsdp2", "mi355_mx_ep8_fix",
                                         "mx7_v5p8_ep8_dm", "mx7_v5p8_ep8_fix"),
                         [](const auto& row) { return row.param; });

}  // namespace
}  // namespace shardplan
