#include <gmock/gmock.h>

#include <planner/search/explore/front.hpp>
#include <random>

namespace shardplan {
namespace {

Candidate point(double seconds, std::int64_t peak) { return {0, 0, 0, {seconds, peak, true, false, false}}; }

std::vector<std::pair<double, std::int64_t>> points_of(const Front& front) {
  std::vector<std::pair<double, std::int64_t>> points;
  for (const auto& c : front.candidates()) points.emplace_back(c.cost.seconds_per_token, c.cost.peak);
  return points;
}

TEST(Front, KeepsWhatNothingBeats) {
  struct Row {
    const char* what;
    std::vector<std::pair<double, std::int64_t>> added, kept;
  };
  const Row rows[] = {
      {"nothing", {}, {}},
      {"a trade", {{1, 10}, {2, 5}}, {{1, 10}, {2, 5}}},
      {"fastest first", {{2, 5}, {1, 10}}, {{1, 10}, {2, 5}}},
      {"slower and larger", {{1, 10}, {2, 20}}, {{1, 10}}},
      {"beaten afterwards", {{2, 20}, {1, 10}}, {{1, 10}}},
      {"as fast, smaller", {{1, 10}, {1, 5}}, {{1, 5}}},
      {"as small, faster", {{2, 5}, {1, 5}}, {{1, 5}}},
      {"equal", {{1, 5}, {1, 5}}, {{1, 5}}},
      {"several at once", {{2, 5}, {3, 4}, {4, 3}, {1, 4}}, {{1, 4}, {4, 3}}},
  };
  for (const auto& row : rows) {
    Front front;
    for (const auto& [seconds, peak] : row.added) front.add(point(seconds, peak));
    EXPECT_EQ(points_of(front), row.kept) << row.what;
  }
}

TEST(Front, AgreesWithComparingAllPairs) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> any(0, 30);
  for (int round = 0; round < 50; ++round) {
    std::vector<Candidate> all;
    for (int i = 0; i < 40; ++i) all.push_back(point(any(random), any(random)));
    Front front;
    for (const auto& c : all) front.add(c);
    for (const auto& c : all) {
      const bool beaten = std::any_of(all.begin(), all.end(), [&](const Candidate& rival) {
        return rival.cost.seconds_per_token <= c.cost.seconds_per_token && rival.cost.peak <= c.cost.peak &&
               !(rival.cost == c.cost);
      });
      EXPECT_EQ(front.beats(c.cost.seconds_per_token, c.cost.peak), beaten);
      const auto points = points_of(front);
      const std::pair<double, std::int64_t> mine{c.cost.seconds_per_token, c.cost.peak};
      EXPECT_EQ(std::count(points.begin(), points.end(), mine), beaten ? 0 : 1);
    }
  }
}

}  // namespace
}  // namespace shardplan
