#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
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

/// A small message takes the protocol that starts fast, a large one that which fills the link. The toy's all-gathers at
/// 100 GB/s; of 1 us to start and 1 a pass, half the bandwidth; of 10 and 20, all of it.
TEST(CollectiveTime, TakesTheFastestProtocol) {
  GroupNetwork network = toy_network(8);
  network.protocols = {{{1e-6}, {1e-6}, 0.5}, {{10e-6}, {20e-6}, 1}};
  const struct {
    CollectiveKind kind;
    std::int64_t bytes;
    double microseconds;
  } rows[] = {
      {all_gather, 800'000, 1 + 1 + 14},          // 700 kB at 50 GB/s; at 100: 10 + 20 + 7
      {all_gather, 8 * MB, 10 + 20 + 70},         // 1 + 1 + 140
      {all_reduce, 800'000, 1 + 2 + 28},          // two passes
      {all_reduce, 8 * MB, 10 + 40 + 140},        //
      {collective_permute, 200'000, 1 + 1 + 16},  // all of it, at 12.5 GB/s
  };
  for (const auto& row : rows)
    EXPECT_NEAR(collective_time(collective(row.kind, 8, row.bytes, 3), network).value, 3e-6 * row.microseconds, 1e-12)
        << name_of(row.kind) << " of " << row.bytes;
}

/// NCCL's constants for rings over NVLink (src/graph/tuning.cc at 01afd20a: latencies of a step 0.47, 1.9 and 3.4 us; LL has
/// a third of the bandwidth, LL128 0.92 of it) on the H100's base latency, 8 GPUs, against AIConfigurator's measured
/// curve: the worst of seven is 11% off, with one latency for all sizes 37%.
TEST(CollectiveTime, ProtocolsOfNcclFollowTheMeasuredCurve) {
  constexpr double microsecond = 1e-6;
  GroupNetwork plain{8, {450e9 * 0.745}, {450e9 * 0.745}, {450e9 * 0.745}, {(4.5 + 7 * 0.85) * microsecond}, "h100"};
  GroupNetwork nccl = plain;
  for (const auto& [step, share] : {std::pair(0.47, 1.0 / 3), {1.9, 0.92}, {3.4, 1.0}})
    nccl.protocols.push_back({{4.5 * microsecond}, {7 * step * microsecond}, share});
  const struct {
    CollectiveKind kind;
    std::int64_t kibibytes;
    double microseconds;
  } measured[] = {
      {all_gather, 1024, 17.1},   {all_gather, 4096, 33.4},    {all_gather, 16384, 68.9}, {all_gather, 262144, 728.8},
      {all_reduce, 1024, 25.4},   {all_reduce, 4096, 50.5},    {all_reduce, 16384, 121.9},
  };
  const auto worst = [&](const GroupNetwork& network) {
    double error = 0;
    for (const auto& row : measured) {
      const double seconds = collective_time(collective(row.kind, 8, row.kibibytes * 1024, 1), network).value;
      error = std::max(error, std::abs(seconds / (row.microseconds * microsecond) - 1));
    }
    return error;
  };
  EXPECT_NEAR(worst(plain), 0.37, 0.01);
  EXPECT_NEAR(worst(nccl), 0.11, 0.01);
}

}  // namespace
}  // namespace shardplan
