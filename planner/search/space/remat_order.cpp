#include <algorithm>
#include <planner/search/space/remat_order.hpp>
#include <shardplan/compiler/late_sends.hpp>

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

/// Whether the device holds some of what policies move to the host, or all of it; in decoders whose layers are loops inside
/// the scan's iterations it holds some (Block::stays_on_device).
bool host_values_may_stay(const Configuration& base) {
  return sends_late(base.config, base.compiler) || base.model.decoder_block.loops_in_cycle;
}

/// Of two that keep the same on the device nobody knows: what comes back from the host is on the device while it is read,
/// what is computed again beside what it is computed from (qwen3-30b-a3b on 32 devices of 7x: `full` takes 87 GiB,
/// `minimal_offloaded` 93; mixtral-8x7b on v6e needs least under that). Nor of one that moves to the host what may stay.
bool needs_less_memory(const Saved& a, const Saved& b, bool host_values_stay) {
  if (host_values_stay && !(a.on_host.empty() && b.on_host.empty())) return false;
  return a.on_device != b.on_device && includes(b.on_device, a.on_device);
}

bool takes_less_time(const Saved& a, const Saved& b) {
  const bool moves_no_more = includes(b.on_host, a.on_host);
  return !(a == b) && moves_no_more && includes(a.anywhere, b.anywhere);
}

/// Those of `some` before which none of them comes. Of equals the first in the list stands for all.
template <class Before>
std::vector<std::size_t> extremes(const std::vector<std::size_t>& some, const std::vector<Saved>& all, Before before) {
  std::vector<std::size_t> found;
  std::copy_if(some.begin(), some.end(), std::back_inserter(found), [&](std::size_t i) {
    return std::none_of(some.begin(), some.end(),
                        [&](std::size_t j) { return before(all[j], all[i]) || (j < i && all[j] == all[i]); });
  });
  return found;
}

}  // namespace

std::vector<std::size_t> policies_with(const SearchSpace& space, int stages) {
  std::vector<std::size_t> policies;
  for (std::size_t i = 0; i < space.remat_policies.size(); ++i)
    if (stages == 1 || runs_in_pipelines(space.remat_policies[i])) policies.push_back(i);
  return policies;
}

RematOrder remat_order(const SearchSpace& space, std::vector<std::size_t> policies) {
  std::vector<Saved> all;
  for (const auto& policy : space.remat_policies) {
    TrainConfig config = space.base.config;
    set_remat(config, policy);
    all.push_back({saved_on_device(config), saved_on_host(config), saved_anywhere(config)});
  }
  RematOrder order;
  const bool stay = host_values_may_stay(space.base);
  const auto needs_less = [&](const Saved& a, const Saved& b) { return needs_less_memory(a, b, stay); };
  order.smallest = extremes(policies, all, needs_less);
  order.fastest = extremes(policies, all, takes_less_time);
  order.larger.resize(all.size());
  for (const std::size_t i : policies)
    for (const std::size_t j : policies)
      if (needs_less(all[i], all[j])) order.larger[i].push_back(j);
  order.policies = std::move(policies);
  return order;
}

}  // namespace shardplan
