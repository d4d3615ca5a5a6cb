// The measure itself, on a record made from a prediction: equal scores 0, and a change of known size scores that size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <planner/evaluate/evaluate.hpp>
#include <arguments/read_configuration.hpp>
#include <planner/validate/score.hpp>

namespace shardplan {
namespace {

/// The prediction for llama2-7b over 8-way fsdp, written down as if it had been recorded.
RecordedProgram echo() {
  RecordedProgram record;
  record.id = "echo";
  record.arguments = {"model_name=llama2-7b", "compile_topology=v5p-16", "per_device_batch_size=1",
                      "ici_fsdp_parallelism=8"};
  record.mesh = {{"fsdp", 8}, {"expert", 1}};
  const Evaluation evaluation = evaluate(read_configuration(record.arguments, {}, std::nullopt));
  for (const auto& c : evaluation.collectives) {
    record.collectives.push_back({c.phase, c.kind, {}, c.group_size, c.bytes, c.executions});
    for (const AxisId axis : c.axes) record.collectives.back().axes.push_back(evaluation.mesh.axes[axis].name);
  }
  record.memory = {evaluation.memory.arguments(), evaluation.memory.peak()};
  return record;
}

double traffic(const RecordedProgram& record) {
  double total = 0;
  for (const auto& c : record.collectives)
    if (c.bytes.value >= 64 * 1024) total += static_cast<double>(c.bytes.value * c.executions);
  return total;
}

RecordedCollective& first(RecordedProgram& record, CollectiveKind kind) {
  return *std::find_if(record.collectives.begin(), record.collectives.end(),
                       [&](const auto& c) { return c.kind == kind; });
}

TEST(Score, IsZeroForItself) {
  const RecordScore same = score(echo());
  ASSERT_FALSE(same.failure) << *same.failure;
  EXPECT_EQ(same.collectives, 0);
  EXPECT_EQ(same.phases, 0);
  EXPECT_EQ(same.memory, 0);
  EXPECT_EQ(same.arguments, 0);
  EXPECT_TRUE(same.worst.empty());
}

TEST(Score, CountsWhatTheRecordHasBeyondThePrediction) {
  RecordedProgram record = echo();
  const double before = traffic(record);
  record.collectives.push_back({Phase::forward, CollectiveKind::all_to_all, {"fsdp"}, 8, {1'000'000'000}, 3});
  const RecordScore more = score(record);
  EXPECT_DOUBLE_EQ(more.collectives, 3e9 / (before + 3e9));
  ASSERT_EQ(more.worst.size(), 1);
  EXPECT_EQ(more.worst[0].group, "exchange fsdp");
  EXPECT_EQ(more.worst[0].recorded - more.worst[0].predicted, Bytes{3'000'000'000});
}

TEST(Score, CountsWhatTheRecordLacks) {
  RecordedProgram record = echo();
  record.collectives.clear();
  record.collectives.push_back({Phase::forward, CollectiveKind::all_to_all, {"expert"}, 8, {1'000'000}, 1});
  EXPECT_DOUBLE_EQ(score(record).collectives, (traffic(echo()) + 1e6) / 1e6);
}

TEST(Score, TakesReduceScatterAndAllReduceForTheSame) {
  RecordedProgram record = echo();
  first(record, CollectiveKind::reduce_scatter).kind = CollectiveKind::all_reduce;
  EXPECT_EQ(score(record).collectives, 0);
}

TEST(Score, SeesAnotherPhaseOnlyInPhases) {
  RecordedProgram record = echo();
  RecordedCollective& gather = first(record, CollectiveKind::all_gather);
  const double moved = static_cast<double>(gather.bytes.value * gather.executions);
  ASSERT_GE(gather.bytes.value, 64 * 1024);
  gather.phase = Phase::optimizer;
  EXPECT_EQ(score(record).collectives, 0);
  EXPECT_DOUBLE_EQ(score(record).phases, 2 * moved / traffic(record));
}

TEST(Score, SeesOtherAxes) {
  RecordedProgram record = echo();
  for (auto& c : record.collectives) c.axes = {"data"};
  EXPECT_DOUBLE_EQ(score(record).collectives, 2);
}

TEST(Score, LeavesOutWhatIsUnder64KiB) {
  RecordedProgram record = echo();
  record.collectives.push_back({Phase::forward, CollectiveKind::all_to_all, {"fsdp"}, 8, {64 * 1024 - 1}, 1'000'000});
  EXPECT_EQ(score(record).collectives, 0);
  record.collectives.back().bytes = {64 * 1024};
  EXPECT_GT(score(record).collectives, 0);
}

TEST(Score, ComparesMemory) {
  RecordedProgram record = echo();
  record.memory->peak = record.memory->peak * 2;
  record.memory->arguments = record.memory->arguments * 4;
  EXPECT_DOUBLE_EQ(score(record).memory, -0.5);
  EXPECT_DOUBLE_EQ(score(record).arguments, -0.75);
}

TEST(Score, OfARefusedProgramIsWhetherItIsPredictedNotToFit) {
  RecordedProgram small = echo();
  small.memory.reset();
  EXPECT_EQ(score(small).refused_too, false);
  RecordedProgram large = small;
  large.arguments[2] = "per_device_batch_size=200";
  EXPECT_EQ(score(large).refused_too, true);
}

TEST(Score, OfAnotherMeshIsAFailureNotANumber) {
  RecordedProgram record = echo();
  record.mesh["fsdp"] = 4;
  EXPECT_THAT(score(record).failure.value_or(""),
              testing::HasSubstr("echo: recorded mesh has fsdp=4, its arguments give 8"));
  record.arguments.push_back("model_nam=x");
  EXPECT_TRUE(score(record).failure);
}

TEST(Validate, SumsUp) {
  RecordedProgram off = echo(), refused = echo(), wrong = echo();
  off.collectives.push_back(
      {Phase::forward, CollectiveKind::all_to_all, {"fsdp"}, 8, {static_cast<std::int64_t>(traffic(off))}, 1});
  off.memory->peak = off.memory->peak * 2;
  refused.memory.reset();
  wrong.mesh["fsdp"] = 4;
  const ScoreSummary s = validate({echo(), off, refused, wrong}).summary;
  EXPECT_EQ(s.programs, 3);
  EXPECT_EQ(s.scored, 2);
  EXPECT_EQ(s.within_5_percent, 1);
  EXPECT_DOUBLE_EQ(s.median_collectives, 0.25);  // of 0 and 0.5
  EXPECT_DOUBLE_EQ(s.mean_memory, 0.25);
  EXPECT_DOUBLE_EQ(s.worst_memory, 0.5);
  EXPECT_EQ(s.refused, 1);
  EXPECT_EQ(s.refused_too, 0);
}

}  // namespace
}  // namespace shardplan
