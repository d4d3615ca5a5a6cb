#include <gtest/gtest.h>

#include <shardplan/attention/attention_window.hpp>

namespace shardplan {
namespace {

struct Row {
  const char* what;
  std::int64_t sequence;
  AttentionWindow window;
  double keys;
};

// Of 8 positions. Chunks of 4 hold 2·(4²/2) = 16 pairs, chunks of 3 two of 3²/2 and a rest of 2²/2, 11 pairs.
TEST(AttendedKeys, AreAnAverageOverQueries) {
  for (const auto& row : {Row{"all before it", 8, {}, 4},
                          {"the last 4: 4 - 16/16", 8, {4, WindowShape::sliding}, 3},
                          {"chunks of 4", 8, {4, WindowShape::chunked}, 2},
                          {"chunks of 3 and a rest of 2", 8, {3, WindowShape::chunked}, 11.0 / 8},
                          {"one chunk holds all", 8, {8, WindowShape::chunked}, 4},
                          {"a chunk longer than the sequence", 8, {16, WindowShape::chunked}, 4},
                          {"a window longer than the sequence", 8, {16, WindowShape::sliding}, 4}})
    EXPECT_DOUBLE_EQ(attended_keys(row.sequence, row.window), row.keys) << row.what;
}

// 8 positions in 4 runs of 2: causal pairs 2, 6, 10, 14 of 32, under a window of 2 one less than 4 in the first alone.
TEST(BusiestSlice, IsOfTheRunThatAttendsToTheMost) {
  EXPECT_DOUBLE_EQ(busiest_slice(8, {}, 4), 1.75);
  EXPECT_DOUBLE_EQ(busiest_slice(8, {}, 1), 1);
  EXPECT_DOUBLE_EQ(busiest_slice(8, {2, WindowShape::sliding}, 4), 4 * 4 / 14.0);
  EXPECT_DOUBLE_EQ(busiest_slice(8, {2, WindowShape::chunked}, 4), 1) << "each run is a chunk";
  EXPECT_DOUBLE_EQ(busiest_slice(8, {4, WindowShape::chunked}, 4), 1.5) << "a chunk's second half";
}

}  // namespace
}  // namespace shardplan
