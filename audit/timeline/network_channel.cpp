#include <algorithm>
#include <audit/timeline/network_channel.hpp>

namespace shardplan {

double NetworkChannel::transfer(const std::vector<CollectiveId>& collectives, double seconds, double not_before) {
  free_ = std::max(free_, not_before) + seconds;
  transfers_.push_back({collectives, seconds, free_});
  return free_;
}

std::vector<std::pair<const Transfer*, double>> NetworkChannel::busy(double from, double to) const {
  std::vector<std::pair<const Transfer*, double>> parts;
  for (const auto& transfer : transfers_)
    if (const double part = std::min(to, transfer.end) - std::max(from, transfer.begin()); part > 0)
      parts.emplace_back(&transfer, part);
  return parts;
}

void NetworkChannel::forget(double before) {
  std::erase_if(transfers_, [&](const Transfer& transfer) { return transfer.end <= before; });
}

void NetworkChannel::skip(double seconds) {
  free_ += seconds;
  for (auto& transfer : transfers_) transfer.end += seconds;
}

}  // namespace shardplan
