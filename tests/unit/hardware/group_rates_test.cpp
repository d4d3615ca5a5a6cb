#include <gtest/gtest.h>

#include <hardware/network/group_rates.hpp>
#include <hardware/network/routed_rates.hpp>

namespace shardplan {
namespace {

// Links of 100 bytes/s.
TEST(GroupRates, OfOneDim) {
  const struct {
    DimPart part;
    double ring, exchange, shift;
    const char* why;
  } rows[] = {
      {{4, 1, true}, 200, 150, 100, "ring of 4: each link carries half a buffer, 3/4 / (1/2) = 1.5 links"},
      {{8, 1, true}, 200, 87.5, 100, "ring of 8: each link carries a whole buffer"},
      {{16, 1, true}, 200, 46.875, 100, "ring of 16: two buffers, 15/16 / 2"},
      {{4, 1, false}, 100, 75, 100, "line of 4: half the ring"},
      {{8, 1, false}, 100, 43.75, 100, "line of 8: half the ring"},
      {{2, 1, false}, 100, 100, 100, "two neighbours"},
      {{3, 1, true}, 200, 200, 100, "ring of 3: a link to each peer"},
      {{2, 4, true}, 50, 50, 25, "two members 4 apart on a ring of 8, four such groups on each link"},
      {{2, 4, false}, 25, 25, 25, "on a line of 8: four pairs across the middle link"},
      {{4, 2, true}, 100, 75, 50, "every other chip of a ring of 8: two groups share each link"},
  };
  for (const auto& row : rows) {
    const GroupRates rates = rates_of(row.part, 100);
    EXPECT_DOUBLE_EQ(rates.ring, row.ring) << row.why;
    EXPECT_DOUBLE_EQ(rates.exchange, row.exchange) << row.why;
    EXPECT_DOUBLE_EQ(rates.shift, row.shift) << row.why;
  }
}

TEST(GroupRates, NestedPartsTakeTurns) {
  const GroupRates inner{8, 80, 80, 80, 1}, outer{2, 5, 5, 5, 0};
  const GroupRates both = nested(inner, outer);
  EXPECT_EQ(both.size, 16);
  EXPECT_DOUBLE_EQ(both.ring, 40);  // 1 GB at 5 GB/s + 14 GB at 80 GB/s for 15 GB
  EXPECT_DOUBLE_EQ(both.exchange, 15.0 / (7.0 / 80 + 8.0 / 5));
  EXPECT_DOUBLE_EQ(both.shift, 5);
  EXPECT_EQ(nested(GroupRates{}, outer).ring, 5);
  EXPECT_EQ(nested(inner, GroupRates{}).ring, 80);
}

Slice line_of_chips(int extent, bool wraps) { return {"toy", extent, extent, {extent}, {wraps}}; }

/// All groups of `part` on one torus dim.
DeviceGroups groups_on(const Slice& slice, const DimPart& part) {
  DeviceGroups groups;
  for (int block = 0; block < slice.chips; block += part.size * part.stride)
    for (int first = block; first < block + part.stride; ++first) {
      groups.emplace_back();
      for (int i = 0; i < part.size; ++i) groups.back().push_back({first + i * part.stride, 0, 0, 0});
    }
  return groups;
}

/// The closed forms are what routing every message over the links gives.
TEST(GroupRates, ClosedFormsAgreeWithRouting) {
  for (const int extent : {2, 3, 4, 5, 6, 8, 12, 16})
    for (const bool wraps : {false, true})
      for (int size = 2; size <= extent; ++size)
        for (int stride = 1; stride <= extent; ++stride) {
          const bool fits = extent % (size * stride) == 0 && (extent > 2 || !wraps);
          if (!fits) continue;
          const Slice slice = line_of_chips(extent, wraps);
          const DimPart part{size, stride, wraps && size * stride == extent};
          const GroupRates closed = rates_of(part, 100);
          const GroupRates routed = routed_rates(graph_of(slice, {100, 0}), groups_on(slice, part));
          EXPECT_DOUBLE_EQ(closed.exchange, routed.exchange) << size << " of " << extent << " by " << stride << wraps;
          const bool ring_has_two_ways = part.closes && size == 2 && stride > 1;  // both ways round at once, half each
          if (!ring_has_two_ways) {
            EXPECT_DOUBLE_EQ(closed.shift, routed.shift) << size << " of " << extent << " by " << stride << wraps;
          }
          EXPECT_NEAR(closed.ring, routed.ring, 1e-9) << size << " of " << extent << " by " << stride << wraps;
        }
}

}  // namespace
}  // namespace shardplan
