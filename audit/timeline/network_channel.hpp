#pragma once
// The network of a device, on which collectives run one at a time, in the order in which they are issued.
#include <cstddef>
#include <utility>
#include <vector>

namespace shardplan {

using CollectiveId = std::pair<std::size_t, std::size_t>;  ///< computation, collective of it

/// What is issued together, and when it is on the network.
struct Transfer {
  std::vector<CollectiveId> collectives;
  double seconds = 0, end = 0;
  double begin() const { return end - seconds; }
};

class NetworkChannel {
 public:
  /// Puts collectives of `seconds` on it, `not_before` that time and when it is free; when they end.
  double transfer(const std::vector<CollectiveId>& collectives, double seconds, double not_before);
  /// Of the time from `from` to `to`, what each transfer has that is on the network then.
  std::vector<std::pair<const Transfer*, double>> busy(double from, double to) const;
  /// From when on nothing that has been issued is on it.
  double free() const { return free_; }
  /// All that has ended by then; nobody asks for it any more.
  void forget(double before);
  /// Time goes by in which nothing changes.
  void skip(double seconds);

 private:
  double free_ = 0;
  std::vector<Transfer> transfers_;
};

}  // namespace shardplan
