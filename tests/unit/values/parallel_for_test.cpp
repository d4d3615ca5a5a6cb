#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <shardplan/parallel_for.hpp>
#include <stdexcept>
#include <string>
#include <thread>
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

/// Others look for pieces while the caller takes the last one.
TEST(ParallelFor, EndsCallsOfPiecesThatAreGoneAtOnce) {
  std::atomic<std::size_t> runs = 0;
  std::size_t wanted = 0;
  for (std::size_t call = 0; call < 100000; ++call) {
    const std::size_t count = 2 + call % 5;
    wanted += count;
    parallel_for(count, [&](std::size_t) { ++runs; });
  }
  EXPECT_EQ(runs, wanted);
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

/// Two pieces of a call that a piece of another call makes, each of which waits for the other.
TEST(ParallelFor, HelpsTheCallsOfPiecesOnceNoPieceOfTheFirstIsLeft) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one core";
  std::atomic<int> arrived = 0;
  const auto meet = [&](std::size_t) {
    ++arrived;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (arrived < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    EXPECT_EQ(arrived, 2) << "nobody helped";
  };
  parallel_for(2, [&](std::size_t i) {
    if (i == 0) parallel_for(2, meet);
  });
}

}  // namespace
}  // namespace shardplan
