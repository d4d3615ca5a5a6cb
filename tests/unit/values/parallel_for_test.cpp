#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <shardplan/parallel_for.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace shardplan {
namespace {

TEST(ParallelFor, RunsEveryPieceOnceInEachOfManyCalls) {
  for (std::size_t count = 0; count < 200; ++count) {
    std::vector<int> runs(count);
    parallel_for(count, [&](std::size_t i) { ++runs[i]; });
    EXPECT_EQ(std::accumulate(runs.begin(), runs.end(), 0), static_cast<int>(count));
    EXPECT_EQ(std::count(runs.begin(), runs.end(), 1), static_cast<int>(count));
  }
}

TEST(ParallelFor, RethrowsTheErrorOfTheLowestIndexOnceAllHaveRun) {
  std::atomic<int> runs = 0;
  const auto work = [&](std::size_t i) {
    ++runs;
    if (i == 7 || i == 3) throw std::runtime_error(std::to_string(i));
  };
  try {
    parallel_for(20, work);
    FAIL() << "nothing thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "3");
  }
  EXPECT_EQ(runs, 20);
}

TEST(ParallelFor, RunsInsideItself) {
  std::vector<std::vector<int>> runs(8, std::vector<int>(8));
  parallel_for(8, [&](std::size_t i) { parallel_for(8, [&](std::size_t j) { ++runs[i][j]; }); });
  EXPECT_EQ(runs, std::vector<std::vector<int>>(8, std::vector<int>(8, 1)));
}

}  // namespace
}  // namespace shardplan
