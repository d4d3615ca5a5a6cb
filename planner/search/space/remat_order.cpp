#include <algorithm>
#include <planner/search/space/remat_order.hpp>

namespace shardplan {
namespace {

using Names = std::vector<std::string>;  // sorted

Names saved_on_device(const TrainConfig& config) {
  Names names;
  for (const auto& [name, place] : config.saved)
    if (place == SavePlace::device) names.push_back(name);
  return names;
}

Names saved_anywhere(const TrainConfig& config) {
  Names names;
  for (const auto& [name, place] : config.saved)
    if (place != SavePlace::recompute) names.push_back(name);
  return names;
}

bool includes(const Names& all, const Names& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

Names saved_on_host(const TrainConfig& config) {
  Names names;
  for (const auto& [name, place] : config.saved)
    if (place == SavePlace::host) names.push_back(name);
  return names;
}

struct Saved {
  Names on_device, on_host, anywhere;
  bool operator==(const Saved&) const = default;
};

bool needs_less_memory(const Saved& a, const Saved& b) {
  if (a.on_device != b.on_device) return includes(b.on_device, a.on_device);
  return a.anywhere != b.anywhere && includes(a.anywhere, b.anywhere);
}

bool takes_less_time(const Saved& a, const Saved& b) {
  const bool moves_no_more = includes(b.on_host, a.on_host);
  return !(a == b) && moves_no_more && includes(a.anywhere, b.anywhere);
}

/// Whether none comes before `i`. Of equals the first in the list stands for all.
template <class Before>
bool is_extreme(std::size_t i, const std::vector<Saved>& all, Before before) {
  for (std::size_t j = 0; j < all.size(); ++j)
    if (before(all[j], all[i]) || (j < i && all[j] == all[i])) return false;
  return true;
}

}  // namespace

RematOrder remat_order(const SearchSpace& space) {
  std::vector<Saved> all;
  for (const auto& policy : space.remat_policies) {
    const TrainConfig config = with_remat(space.base.config, policy);
    all.push_back({saved_on_device(config), saved_on_host(config), saved_anywhere(config)});
  }
  RematOrder order{{}, {}, std::vector<std::vector<std::size_t>>(all.size())};
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (is_extreme(i, all, needs_less_memory)) order.smallest.push_back(i);
    if (is_extreme(i, all, takes_less_time)) order.fastest.push_back(i);
    for (std::size_t j = 0; j < all.size(); ++j)
      if (needs_less_memory(all[i], all[j])) order.larger[i].push_back(j);
  }
  return order;
}

}  // namespace shardplan
