#include <fmt/format.h>

#include <algorithm>
#include <cost_models/time/collective_time.hpp>
#include <optional>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

/// What a device's own share of a buffer leaves to others: (n-1)/n. Of 8 devices: 0.875.
double share_of_others(std::int64_t n) { return static_cast<double>(n - 1) / static_cast<double>(n); }

/// Seconds for which the links are busy in one execution. The numbers: n = 8 devices, 800 MB, 100 GB/s.
Seconds transfer_time(const Collective& c, const GroupNetwork& network) {
  const double others = share_of_others(c.group_size);
  switch (c.kind) {
    // (n-1)/n · result / ring rate: 700 MB, 7 ms. A reduce-scatter is the same ring run backwards.
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
      return c.bytes / network.ring_rate * others;
    // 2(n-1)/n · tensor / ring rate: reduce-scatter, then all-gather; 1400 MB, 14 ms
    case CollectiveKind::all_reduce:
      return c.bytes / network.ring_rate * (2 * others);
    // (n-1)/n · local buffer / exchange rate: 700 MB leave each device, 7 ms
    case CollectiveKind::all_to_all:
    case CollectiveKind::ragged_all_to_all:
      return c.bytes / network.exchange_rate * others;
    // all that a device sends / shift rate: 800 MB, 8 ms
    case CollectiveKind::collective_permute:
      return c.bytes / network.shift_rate;
  }
  throw InternalError("unknown CollectiveKind");
}

void check(const Collective& c, const GroupNetwork& network, Seconds transfer) {
  if (network.size != c.group_size)
    throw InternalError(
        fmt::format("{} among {} devices priced on a network of {}", name_of(c.kind), c.group_size, network.size));
  if (!(transfer.value >= 0 && transfer.value < 1e12))
    throw InternalError(fmt::format("no rate for {} on {}", name_of(c.kind), network.description));
}

/// Of the protocols the one that is done first. An all-reduce passes over the group twice: its reduce-scatter, its
/// all-gather. H100, 8 GPUs, all-gather of 16 MiB at 335 GB/s: Simple 4.5 + 7 · 3.4 + 43.8 = 72 us, LL128 (0.92 of the
/// bandwidth) 4.5 + 7 · 1.9 + 47.6 = 65 us; measured 69.
Seconds fastest_protocol(const Collective& c, const GroupNetwork& network, Seconds transfer) {
  const double passes = c.kind == CollectiveKind::all_reduce ? 2 : 1;
  std::optional<Seconds> fastest;
  for (const ProtocolCost& protocol : network.protocols) {
    const Seconds time = protocol.fixed + protocol.steps * passes + transfer * (1 / protocol.share);
    fastest = std::min(time, fastest.value_or(time));
  }
  return *fastest;
}

}  // namespace

Seconds collective_time(const Collective& collective, const GroupNetwork& network) {
  if (collective.group_size <= 1) return {};
  const Seconds transfer = transfer_time(collective, network);
  check(collective, network, transfer);
  if (!network.protocols.empty())
    return fastest_protocol(collective, network, transfer) * static_cast<double>(collective.executions);
  return (network.latency + transfer) * static_cast<double>(collective.executions);
}

}  // namespace shardplan
