// Loop bodies as schedules: which collective waits for what, and what the compute stream waits for.
#include <gmock/gmock.h>

#include <cost_models/time/schedule/body_schedule.hpp>
#include <cost_models/time/schedule/combined_collectives.hpp>
#include <cost_models/time/schedule/known_bodies.hpp>
#include <shardplan/error.hpp>

#include "time_toys.hpp"

namespace shardplan {
namespace {

using testing::ElementsAre;

std::vector<double> exposed(const std::vector<double>& steps, const std::vector<ScheduledCollective>& moves) {
  std::vector<Seconds> seconds;
  for (const double step : steps) seconds.push_back({step});
  std::vector<double> waits;
  for (const Seconds wait : exposed_in_body(seconds, moves).exposed) waits.push_back(wait.value);
  return waits;
}

struct Body {
  std::vector<double> steps;
  std::vector<ScheduledCollective> moves;  ///< seconds, made by, needed by
  std::vector<double> exposed;
};

const Body bodies[] = {
    {{10, 30}, {{{8}, -1, 1}}, {0}},                   // a gather for the second step hides behind the first
    {{10, 30}, {{{18}, -1, 1}}, {8}},                  // what is longer doesn't
    {{10, 30}, {{{8}, -1, 0}}, {8}},                   // nothing in front of the first step
    {{10, 30}, {{{20}, -1, 1}, {{15}, -1, 0}}, {10, 15}},  // one at a time, the first needed first (the header's numbers)
    {{10, 30}, {{{8}, 0, 2}}, {0}},                    // a sum of what the first step makes has the second to hide
    {{10, 30}, {{{8}, 1, 2}}, {8}},                    // of the last step: the end of the body
    {{10, 30, 5}, {{{8}, 0, 1}}, {8}},                 // what the next step reads of the one before
    {{10, 30, 5}, {{{8}, 0, 2}}, {0}},                 // with a step between
    {{10, 30, 5}, {{{32}, 0, 3}, {{2}, 0, 2}}, {0, 0}},    // the later needed waits in the channel
    {{10, 5, 5}, {{{12}, -1, 3}, {{2}, 0, 1}}, {2, 2}},    // 2 s of the first have to go before the second can
    {{10, 30}, {{{8}, -1, 1, false}}, {8}},            // synchronous: waited for wherever it is
    {{}, {{{8}, -1, 0}}, {}},                          //
};

TEST(BodySchedule, ExposesWhatTheComputeStreamWaitsFor) {
  for (const auto& row : bodies) EXPECT_EQ(exposed(row.steps, row.moves), row.exposed) << row.moves.front().seconds.value;
}

TEST(BodySchedule, ACollectiveAheadHasTheIterationBefore) {
  EXPECT_THAT(exposed({10, 30}, {{{8}, -1, 0, true, true}}), ElementsAre(0)) << "gathered during the iteration before";
  EXPECT_THAT(exposed({10, 30}, {{{8}, 1, 2, true, true}}), ElementsAre(0)) << "summed during the one after";
  EXPECT_THAT(exposed({10, 30}, {{{60}, -1, 0, true, true}}), ElementsAre(testing::Gt(0))) << "the channel is full";
}

ScheduledCollective sharing(double seconds, int made_by, int needed_by, double processors) {
  ScheduledCollective move{{seconds}, made_by, needed_by};
  move.processors = processors;
  return move;
}

// 20 s of a collective with an eighth of the processors leave 17.5 s of work to a step beside it: 30 s take 32.5.
TEST(BodySchedule, StepsTakeLongerBesideCollectivesOnTheirProcessors) {
  const BodyWaits beside = exposed_in_body({{30}, {5}}, {sharing(20, -1, 1, 0.125)});
  EXPECT_DOUBLE_EQ(beside.contention.value, 2.5);
  EXPECT_DOUBLE_EQ(beside.exposed[0].value, 0);
  EXPECT_DOUBLE_EQ(place_body({{30}, {5}}, {sharing(20, -1, 1, 0.125)}).steps[0].end.value, 32.5);
  // 10.5 s of work take 12 of its 20 s: 8 are waited for.
  const BodyWaits waited = exposed_in_body({{10.5}, {5}}, {sharing(20, -1, 1, 0.125)});
  EXPECT_DOUBLE_EQ(waited.contention.value, 1.5);
  EXPECT_DOUBLE_EQ(waited.exposed[0].value, 8);
  // One after the other: 8 and 16 s, then the step is alone.
  const std::vector<ScheduledCollective> two = {sharing(8, -1, 1, 0.125), sharing(16, -1, 2, 0.25)};
  EXPECT_DOUBLE_EQ(exposed_in_body({{60}, {5}}, two).contention.value, 1 + 4);
  EXPECT_DOUBLE_EQ(exposed_in_body({{30}, {5}}, {{{20}, -1, 1}}).contention.value, 0) << "on processors of its own";
}

// The header's numbers: the second step's gather waits until the first step's has gone.
TEST(BodySchedule, SaysWhenEverythingRuns) {
  const PlacedBody placed = place_body({{10}, {30}}, {{{20}, -1, 1}, {{15}, -1, 0}});
  const auto spans = [](const auto& all) {
    std::vector<std::pair<double, double>> pairs;
    for (const auto& one : all) pairs.emplace_back(one.begin.value, one.end.value);
    return pairs;
  };
  const auto of = [](const std::vector<PlacedMove>& moves) {
    std::vector<TimeSpan> all;
    for (const PlacedMove& move : moves) all.push_back(move.span);
    return all;
  };
  EXPECT_THAT(spans(placed.steps), ElementsAre(std::pair(15, 25), std::pair(35, 65)));
  EXPECT_THAT(spans(of(placed.moves)), ElementsAre(std::pair(0, 15), std::pair(15, 35)));
  EXPECT_EQ(placed.moves[0].collective, 1);
  EXPECT_THAT(spans(of(placed.waits)), ElementsAre(std::pair(0, 15), std::pair(25, 35)));
  EXPECT_EQ(placed.waits[1].collective, 0);
}

// 8 s that are gathered during the iteration before: in this one the next one's.
TEST(BodySchedule, SaysWhatRunsForTheNextIteration) {
  const PlacedBody placed = place_body({{10}, {30}}, {{{8}, -1, 0, true, true}});
  EXPECT_TRUE(placed.waits.empty());
  ASSERT_EQ(placed.moves.size(), 1);
  EXPECT_EQ(placed.moves[0].span.length().value, 8);
  EXPECT_EQ(placed.steps[0].begin.value, 0);
}

Compiler with_threshold(std::int64_t bytes) {
  Compiler compiler;
  compiler.settings[CompilerSetting::all_gather_combine_threshold] = Bytes{bytes};
  return compiler;
}

TEST(CombinedCollectives, WaitForTheFirstUseOfAny) {
  const std::vector<Seconds> steps = {{10}, {10}, {10}};
  const std::vector<ScheduledCollective> gathers = {{{4}, -1, 1}, {{12}, -1, 2}};
  const auto waits = [&](std::int64_t threshold) {
    const Bytes limit = combine_threshold(with_threshold(threshold), CollectiveKind::all_gather);
    const std::vector<CombinedKind> kinds(2, {CollectiveKind::all_gather, {0}, limit, Bytes{100}});
    std::vector<double> all;
    for (const Seconds wait : schedule_combined(steps, gathers, kinds, {}).exposed) all.push_back(wait.value);
    return all;
  };
  EXPECT_THAT(waits(0), ElementsAre(0, 0));
  EXPECT_THAT(waits(199), ElementsAre(0, 0)) << "too large together";
  EXPECT_THAT(waits(200), ElementsAre(1.5, 4.5)) << "10 s in front of the first use, and both take 16";
  const std::vector<ScheduledCollective> early = {{{4}, -1, 0}, {{6}, -1, 2}};
  const Bytes limit{200};
  const std::vector<CombinedKind> kinds(2, {CollectiveKind::all_gather, {0}, limit, Bytes{100}});
  const auto together = schedule_combined(steps, early, kinds, {}).exposed;
  EXPECT_DOUBLE_EQ(together[0].value, 4) << "of 10 s in front of the first step, by the parts' seconds";
  EXPECT_DOUBLE_EQ(together[1].value, 6) << "which alone would hide";
}

TEST(CombinedCollectives, AreOfOneKindAndTheSameAxes) {
  const std::vector<Seconds> steps = {{10}, {10}};
  const std::vector<ScheduledCollective> moves = {{{4}, -1, 0}, {{6}, -1, 1}};
  std::vector<CombinedKind> kinds(2, {CollectiveKind::all_gather, {0}, Bytes{1000}, Bytes{100}});
  kinds[1].axes = {1};
  EXPECT_DOUBLE_EQ(schedule_combined(steps, moves, kinds, {}).exposed[1].value, 0);
  EXPECT_EQ(combine_threshold(with_threshold(5), CollectiveKind::all_to_all).value, 0);
}

TEST(CombinedCollectives, DontWaitForWhatFollowsFromThem) {
  const std::vector<Seconds> steps = {{10}, {10}, {10}};
  const std::vector<ScheduledCollective> sums = {{{4}, -1, 0}, {{6}, 1, 2}};  // the second is made of what reads the first
  const std::vector<CombinedKind> kinds(2, {CollectiveKind::all_reduce, {0}, Bytes{1000}, Bytes{100}});
  const auto waits = schedule_combined(steps, sums, kinds, {}).exposed;
  EXPECT_DOUBLE_EQ(waits[0].value, 4);
  EXPECT_DOUBLE_EQ(waits[1].value, 6);
}

// A gather of 4 s before the first step, 10 s; then of 6 s; then beside other steps.
TEST(KnownBodies, AreScheduledAgainWhereTheyDiffer) {
  KnownBodies known;
  const std::vector<Seconds> steps = {{10}, {10}}, others = {{20}, {10}};
  const std::vector<CombinedKind> kinds(1);
  const BodyWaits& first = known.waits(3, steps, {{{4}, -1, 0}}, kinds, {});
  EXPECT_DOUBLE_EQ(first.exposed[0].value, 4);
  const Seconds* const made = first.exposed.data();
  EXPECT_EQ(known.waits(3, steps, {{{4}, -1, 0}}, kinds, {}).exposed.data(), made) << "not made again";
  EXPECT_DOUBLE_EQ(known.waits(3, steps, {{{6}, -1, 0}}, kinds, {}).exposed[0].value, 6);
  EXPECT_DOUBLE_EQ(known.waits(3, steps, {{{14}, -1, 1}}, kinds, {}).exposed[0].value, 4);
  EXPECT_DOUBLE_EQ(known.waits(3, others, {{{14}, -1, 1}}, kinds, {}).exposed[0].value, 0);
  EXPECT_DOUBLE_EQ(known.waits(0, steps, {{{14}, -1, 1}}, kinds, {}).exposed[0].value, 4) << "another body";
}

TEST(KnownBodies, TimeTheOperationsOfALayoutOnce) {
  const Block block;
  OperationWork work;
  work.kind = WorkKind::matmul;
  PartitionedBlock partitioned;
  const auto laid_out = [&](double forward) {
    partitioned.layout = std::make_shared<BlockLayout>(BoundBlock{&block, {}});
    partitioned.layout->work = {work};
    partitioned.layout->work.front().forward = {forward};
  };
  KnownBodies known;
  const auto seconds = [&](std::size_t index) {
    return known.times(index, partitioned, toy_machine(), toy_compiler()).front().forward.total().value;
  };
  laid_out(300e12);
  EXPECT_DOUBLE_EQ(seconds(0), 3);
  partitioned.layout->work.front().forward = {600e12};
  EXPECT_DOUBLE_EQ(seconds(0), 3) << "known";
  EXPECT_DOUBLE_EQ(seconds(1), 6) << "another block";
  laid_out(900e12);
  EXPECT_DOUBLE_EQ(seconds(0), 9) << "another layout";
}

TEST(BodySchedule, KnowsNoCollectiveThatIsNeededBeforeItIsMade) {
  EXPECT_THROW(exposed({10, 30}, {{{8}, 1, 1}}), InternalError);
}

}  // namespace
}  // namespace shardplan
