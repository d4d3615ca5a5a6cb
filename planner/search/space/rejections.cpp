#include <algorithm>
#include <planner/search/space/rejections.hpp>
#include <tuple>

namespace shardplan {

void Rejections::add(const Infeasible& reason) {
  const bool measures = reason.constraint == ConstraintId::hbm || reason.constraint == ConstraintId::step_seconds;
  add(reason.constraint,
      {{reason.constraint, 1, reason.message}, measures ? reason.needed - reason.available : 0});
}

void Rejections::add(const Rejections& others) {
  for (const auto& [constraint, theirs] : others.counts_) add(constraint, theirs);
}

void Rejections::add(ConstraintId constraint, const Dropped& dropped) {
  const auto [at, is_new] = counts_.try_emplace(constraint, dropped);
  if (is_new) return;
  Dropped& known = at->second;
  known.count.candidates += dropped.count.candidates;
  if (dropped.excess >= known.excess) return;
  known.count.example = dropped.count.example;
  known.excess = dropped.excess;
}

std::vector<RejectionCount> Rejections::sorted() const {
  std::vector<RejectionCount> list;
  for (const auto& [constraint, dropped] : counts_) list.push_back(dropped.count);
  std::sort(list.begin(), list.end(), [](const RejectionCount& a, const RejectionCount& b) {
    return std::tuple(-a.candidates, name_of(a.constraint)) < std::tuple(-b.candidates, name_of(b.constraint));
  });
  return list;
}

std::vector<RejectionCount> Rejections::nearest_first() const {
  const auto distance = [](const RejectionCount& rejection) {
    if (rejection.constraint == ConstraintId::step_seconds) return 0;
    return rejection.constraint == ConstraintId::hbm ? 1 : 2;
  };
  std::vector<RejectionCount> list = sorted();
  std::stable_sort(list.begin(), list.end(), [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  return list;
}

}  // namespace shardplan
