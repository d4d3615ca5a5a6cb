// Loop bodies in the order that a latency hiding scheduler gives them: who hides behind what. Seconds, in the head.
#include <gmock/gmock.h>

#include <cost_models/time/schedule/combined_collectives.hpp>
#include <cost_models/time/schedule/issued_body.hpp>
#include <random>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

using testing::ElementsAre;

std::vector<Seconds> seconds_of(const std::vector<double>& steps) {
  std::vector<Seconds> seconds;
  for (const double step : steps) seconds.push_back({step});
  return seconds;
}

std::vector<double> issued(const std::vector<double>& steps, const std::vector<ScheduledCollective>& moves,
                            const std::vector<Leaf>& leaves = {}) {
  std::vector<double> waits;
  for (const Seconds wait : exposed_as_issued(seconds_of(steps), moves, leaves).exposed) waits.push_back(wait.value);
  return waits;
}

ScheduledCollective of_leaf(double seconds, int made_by, int needed_by) {
  ScheduledCollective move{{seconds}, made_by, needed_by};
  move.of_leaf = true;
  return move;
}

TEST(IssuedBody, GivesTheLastGatherTheProductsInFrontOfIt) {
  EXPECT_THAT(issued({1, 8, 8}, {{{10}, -1, 1}, {{10}, -1, 2}, {{10}, -1, 3}}), ElementsAre(10, 9, 0)) << "the header's";
  EXPECT_THAT(issued({1, 8, 8}, {{{10}, -1, 2}, {{10}, -1, 3}}), ElementsAre(9, 0)) << "done in front of the first product";
  EXPECT_THAT(issued({1, 8, 8}, {{{7}, -1, 2}, {{7}, -1, 3}}), ElementsAre(0, 0)) << "a product is enough for each";
  EXPECT_THAT(issued({10, 30}, {{{8}, -1, 1}}), ElementsAre(0)) << "one alone has all that is in front of it";
}

// A sum that the second step makes and the third reads: nothing lies between. The gather for the third step has most
// latency and goes first, but the second step waits for the sum: it hides nothing either.
TEST(IssuedBody, AGatherHoldsUpNoStep) {
  EXPECT_THAT(issued({5, 5, 5}, {{{4}, -1, 2}, {{1}, 1, 2}}), ElementsAre(4, 1));
  EXPECT_THAT(issued({5, 5, 5}, {{{1}, -1, 2}, {{4}, 1, 2}}), ElementsAre(0, 4)) << "behind the sum, it has what is left";
}

// Gradients of two weights and their sums: the products come last, each beside the sum of the one before, and stacks take
// the sums.
TEST(IssuedBody, SumsOfGradientsHideBehindTheNextGradient) {
  // chain 0, gradient 1, chain 2, gradient 3, stacks 4
  const std::vector<double> steps = {50, 6, 50, 6, 1};
  const std::vector<ScheduledCollective> sums = {of_leaf(4, 1, 4), of_leaf(5, 3, 4)};
  const std::vector<Leaf> leaves = {{1, 0}, {3, 1}};
  EXPECT_THAT(issued(steps, sums, leaves), ElementsAre(0, 5)) << "the last has nothing behind it";
  EXPECT_THAT(issued({50, 6, 50, 3, 1}, sums, leaves), ElementsAre(1, 5)) << "the chain hides no sum";
  const PlacedBody placed = place_as_issued(seconds_of(steps), sums, leaves);
  EXPECT_LE(placed.steps[2].end, placed.steps[1].begin) << "behind the chain";
  EXPECT_LE(placed.steps[1].end, placed.steps[3].begin);
  EXPECT_LE(placed.steps[3].end, placed.steps[4].begin) << "in front of the stacks";
}

TEST(IssuedBody, OneThatGoesAheadHasTheWholeIteration) {
  EXPECT_THAT(issued({10, 30}, {{{8}, -1, 0, true, true}}), ElementsAre(0)) << "gathered for the next iteration";
  EXPECT_THAT(issued({10, 30}, {{{8}, 1, 2, true, true}}), ElementsAre(0)) << "summed for the one before";
  EXPECT_THAT(issued({10, 30}, {{{60}, -1, 0, true, true}}), ElementsAre(20)) << "longer than it";
  EXPECT_THAT(issued({10, 30}, {{{8}, -1, 0}}), ElementsAre(8));
}

TEST(IssuedBody, WaitsForWhatIsNotAsynchronous) {
  EXPECT_THAT(issued({10, 30}, {{{8}, -1, 1, false}}), ElementsAre(8));
  EXPECT_THROW(issued({10, 30}, {{{8}, 1, 1}}), InternalError);
}

// 20 s of a collective with an eighth of the processors leave 17.5 s of work to a step beside it: 30 s take 32.5.
TEST(IssuedBody, StepsTakeLongerBesideCollectivesOnTheirProcessors) {
  ScheduledCollective move{{20}, -1, 1};
  move.processors = 0.125;
  const BodyWaits beside = exposed_as_issued({{30}, {5}}, {move}, {});
  EXPECT_DOUBLE_EQ(beside.contention.value, 2.5);
  EXPECT_DOUBLE_EQ(beside.exposed[0].value, 0);
}

// Two sums become one: it is started when both gradients are made, and so hides behind neither.
TEST(IssuedBody, CombinedSumsWaitForAllOfTheirGradients) {
  const std::vector<Seconds> steps = seconds_of({50, 6, 50, 6, 1});
  const std::vector<ScheduledCollective> sums = {of_leaf(4, 1, 4), of_leaf(5, 3, 4)};
  const std::vector<CombinedKind> kinds(2, {CollectiveKind::reduce_scatter, {0}, Bytes{200}, Bytes{100}});
  OverlapRules one;
  one.one_in_flight = true;
  const BodyWaits waits = schedule_combined(steps, sums, kinds, one);
  EXPECT_DOUBLE_EQ((waits.exposed[0] + waits.exposed[1]).value, 9);
}

/// Any body: no wait is longer than its collective, one in flight at a time, all steps placed once.
TEST(IssuedBody, RunsOneCollectiveAtATime) {
  std::mt19937 random(7);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int trial = 0; trial < 2000; ++trial) {
    const int count = 1 + below(8);
    std::vector<double> steps;
    for (int i = 0; i < count; ++i) steps.push_back(below(10));
    std::vector<ScheduledCollective> moves;
    std::vector<Leaf> leaves;
    const int leaf = count > 2 ? below(count - 1) : -1;
    for (int i = below(6); i-- > 0;) {
      const int made_by = below(count + 1) - 1;
      if (made_by == leaf && leaf >= 0) continue;  // nothing else reads it
      ScheduledCollective move{{1.0 + below(12)}, made_by, made_by + 1 + below(count - made_by)};
      move.asynchronous = below(5) > 0;
      move.ahead = below(4) == 0;
      moves.push_back(move);
    }
    for (int i = below(3); i-- > 0 && leaf >= 0;) {
      leaves.push_back({leaf, moves.size()});
      moves.push_back(of_leaf(1.0 + below(12), leaf, count));
    }
    const PlacedBody placed = place_as_issued(seconds_of(steps), moves, leaves);
    const auto waits = issued(steps, moves, leaves);
    ASSERT_EQ(placed.moves.size(), moves.size());
    for (std::size_t i = 0; i < moves.size(); ++i) ASSERT_LE(waits[i], moves[i].seconds.value) << trial;
    for (std::size_t i = 1; i < placed.moves.size(); ++i)
      ASSERT_GE(placed.moves[i].span.begin, placed.moves[i - 1].span.end) << trial;
    for (const PlacedMove& move : placed.moves)
      if (moves[move.collective].of_leaf) {
        ASSERT_GE(move.span.begin, placed.steps[leaf].end) << trial;
      }
  }
}

}  // namespace
}  // namespace shardplan
