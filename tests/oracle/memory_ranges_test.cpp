// The ranges that compilers carry are what the records say.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <compilers/load_compiler.hpp>
#include <map>
#include <planner/evaluate/evaluate.hpp>
#include <planner/validate/memory_ranges.hpp>
#include <planner/validate/score.hpp>
#include <utility>

namespace shardplan {
namespace {

TEST(MemoryRanges, OfTheCompilersAreMeasured) {
  const auto measured = memory_ranges(built_in_records());
  ASSERT_EQ(measured.size(), 8U);  // two families, four paths
  for (const auto& name : {"xla-tpu", "xla-tpu-v5p", "xla-gpu"}) {
    const Compiler compiler = load_compiler(name);
    for (const MemoryRange& range : measured) {
      if (range.family != compiler.family) continue;
      const MemoryError& carried = compiler.memory_error.at(range.path);
      const std::string where = fmt::format("{} {}: measured {} to {} on {}; planner/validate/records/refresh_ranges.py "
                                            "writes it",
                                            name, name_of(range.path), range.error.low, range.error.high,
                                            range.error.records);
      EXPECT_NEAR(carried.low, range.error.low, 1e-9) << where;
      EXPECT_NEAR(carried.high, range.error.high, 1e-9) << where;
      EXPECT_EQ(carried.records, range.error.records) << where;
    }
  }
}

/// How many of `records` peak within what was learned from others, of how many.
std::pair<int, int> inside(const std::vector<RecordedProgram>& records, const std::vector<MemoryRange>& learned) {
  int held = 0, all = 0;
  for (const RecordedProgram& record : records) {
    if (!record.memory) continue;
    const Configuration configuration = configuration_of(record);
    const MemoryUse use = evaluate(configuration).memory;
    const auto range = std::find_if(learned.begin(), learned.end(), [&](const MemoryRange& one) {
      return one.family == configuration.compiler.family && one.path == configuration.config.moe_path;
    });
    const Bytes real = record.memory->peak - record.memory->arguments, planned = use.peak() - use.arguments();
    const double error = static_cast<double>(real.value) / static_cast<double>(planned.value) - 1;
    ++all;
    if (range != learned.end() && range->error.low <= error && error <= range->error.high) ++held;
  }
  return {held, all};
}

// Every second record teaches what the others have to keep to, and the other way round.
TEST(MemoryRanges, HoldPeaksOfProgramsThatTheyWereNotMeasuredOn) {
  std::vector<RecordedProgram> halves[2];
  std::size_t next = 0;
  for (const RecordedProgram& record : built_in_records()) halves[next++ % 2].push_back(record);
  for (const std::size_t half : {0U, 1U}) {
    const auto [held, all] = inside(halves[1 - half], memory_ranges(halves[half]));
    EXPECT_GT(all, 100);
    EXPECT_GE(held * 100, all * 85) << held << " of " << all;
  }
}

TEST(MemoryRanges, AFewRecordsHaveAtLeastTheFamilysRange) {
  std::vector<RecordedProgram> llamas;
  for (const auto& record : built_in_records())
    if (record.id == "h100_ll7_fsdp8" || record.id == "h100_mx_ep8_dm") llamas.push_back(record);
  ASSERT_EQ(llamas.size(), 2U);
  const auto ranges = memory_ranges(llamas);
  ASSERT_EQ(ranges.size(), 4U);
  for (const auto& range : ranges) {
    EXPECT_LE(range.error.low, 0);
    EXPECT_GE(range.error.high, 0);
    EXPECT_EQ(range.error.low, ranges.front().error.low) << name_of(range.path);  // one of each: the family's
    EXPECT_EQ(range.error.records, range.path == MoePath::none || range.path == MoePath::dropping ? 1 : 0);
  }
}

// The widest path with enough of them would be known better than one with a few.
TEST(MemoryRanges, AFewRecordsHaveAtLeastTheRangeOfAPathWithEnough) {
  std::map<MoePath, MemoryError> of_tpus;
  for (const MemoryRange& range : memory_ranges(built_in_records()))
    if (range.family == "XLA:TPU") of_tpus[range.path] = range.error;
  const MemoryError &many = of_tpus.at(MoePath::ragged), &few = of_tpus.at(MoePath::ring);
  ASSERT_GE(many.records, static_cast<int>(enough_records));
  ASSERT_LT(few.records, static_cast<int>(enough_records));
  EXPECT_LE(few.low, many.low);
  EXPECT_GE(few.high, many.high);
}

}  // namespace
}  // namespace shardplan
