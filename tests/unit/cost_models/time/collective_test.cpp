#include <gmock/gmock.h>

#include <cost_models/time/collective_time.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

/// All-gather at 100 GB/s, all-to-all at 50, shifts at 25; 1 ms to start.
GroupNetwork toy_network(int size) { return {size, {100e9}, {50e9}, {25e9}, {1e-3}, "toy"}; }

Collective collective(CollectiveKind kind, std::int64_t group, std::int64_t bytes, std::int64_t executions) {
  Collective c;
  c.kind = kind;
  c.group_size = group;
  c.bytes = {bytes};
  c.executions = executions;
  return c;
}

struct Price {
  CollectiveKind kind;
  std::int64_t group, bytes, executions;
  double milliseconds;
};

using enum CollectiveKind;
constexpr std::int64_t MB = 1'000'000;
constexpr Price prices[] = {
    {all_gather, 8, 800 * MB, 1, 1 + 7},           // 700 MB at 100 GB/s
    {reduce_scatter, 8, 800 * MB, 1, 1 + 7},       // the same ring backwards
    {all_reduce, 8, 800 * MB, 1, 1 + 14},          // both
    {all_to_all, 8, 800 * MB, 1, 1 + 14},          // 700 MB at 50 GB/s
    {ragged_all_to_all, 8, 800 * MB, 1, 1 + 14},   //
    {collective_permute, 8, 800 * MB, 1, 1 + 32},  // all of it, at 25 GB/s
    {all_gather, 2, 800 * MB, 1, 1 + 4},           // half is there already
    {all_gather, 8, 800 * MB, 10, 10 * (1 + 7)},   // every execution starts anew
    {all_gather, 8, 0, 3, 3},                      // latency alone
    {all_gather, 1, 800 * MB, 10, 0},              // nobody to talk to
    {collective_permute, 1, 800 * MB, 10, 0},      //
};

TEST(CollectiveTime, IsLatencyPlusMovedBytesOverRate) {
  for (const auto& row : prices) {
    const Collective c = collective(row.kind, row.group, row.bytes, row.executions);
    EXPECT_NEAR(collective_time(c, toy_network(static_cast<int>(row.group))).value, row.milliseconds / 1000, 1e-12)
        << name_of(row.kind) << " of " << row.bytes << " B among " << row.group << ", " << row.executions << " times";
  }
}

TEST(CollectiveTime, RefusesTheNetworkOfAnotherGroup) {
  EXPECT_THROW(collective_time(collective(all_gather, 8, 800 * MB, 1), toy_network(4)), InternalError);
}

TEST(CollectiveTime, NeverIsInfiniteOrUndefined) {
  GroupNetwork silent = toy_network(8);
  silent.exchange_rate = {0};
  EXPECT_THROW(collective_time(collective(all_to_all, 8, 800 * MB, 1), silent), InternalError);
  EXPECT_THROW(collective_time(collective(all_to_all, 8, 0, 1), silent), InternalError);  // 0/0
  EXPECT_NO_THROW(collective_time(collective(all_gather, 8, 800 * MB, 1), silent));
}

}  // namespace
}  // namespace shardplan
