#include <algorithm>
#include <planner/search/explore/front.hpp>

namespace shardplan {
namespace {

bool slower_than(double seconds, const Candidate& candidate) { return seconds < candidate.cost.seconds_per_token; }

}  // namespace

bool Front::beats(double seconds_per_token, std::int64_t peak) const {
  // The last that is at least as fast is the smallest of those.
  const auto slower = std::upper_bound(candidates_.begin(), candidates_.end(), seconds_per_token, slower_than);
  if (slower == candidates_.begin()) return false;
  const Cost& rival = (slower - 1)->cost;
  return rival.peak < peak || (rival.peak == peak && rival.seconds_per_token < seconds_per_token);
}

void Front::add(const Candidate& candidate) {
  const double seconds = candidate.cost.seconds_per_token;
  const std::int64_t peak = candidate.cost.peak;
  const auto equals = [&](const Candidate& c) { return c.cost.seconds_per_token == seconds && c.cost.peak == peak; };
  if (beats(seconds, peak) || std::any_of(candidates_.begin(), candidates_.end(), equals)) return;
  std::erase_if(candidates_,
                [&](const Candidate& c) { return c.cost.seconds_per_token >= seconds && c.cost.peak >= peak; });
  candidates_.insert(std::upper_bound(candidates_.begin(), candidates_.end(), seconds, slower_than), candidate);
}

}  // namespace shardplan
