#include <algorithm>
#include <planner/search/space/rejections.hpp>
#include <tuple>

namespace shardplan {

void Rejections::add(const Infeasible& reason) {
  auto& count =
      counts_.try_emplace(reason.constraint, RejectionCount{reason.constraint, 0, reason.message}).first->second;
  ++count.candidates;
}

void Rejections::add(const Rejections& others) {
  for (const auto& [constraint, theirs] : others.counts_) {
    auto& ours = counts_.try_emplace(constraint, RejectionCount{constraint, 0, theirs.example}).first->second;
    ours.candidates += theirs.candidates;
  }
}

std::vector<RejectionCount> Rejections::sorted() const {
  std::vector<RejectionCount> list;
  for (const auto& [constraint, count] : counts_) list.push_back(count);
  std::sort(list.begin(), list.end(), [](const RejectionCount& a, const RejectionCount& b) {
    return std::tuple(-a.candidates, name_of(a.constraint)) < std::tuple(-b.candidates, name_of(b.constraint));
  });
  return list;
}

}  // namespace shardplan
