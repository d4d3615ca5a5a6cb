#include <algorithm>
#include <rules/unreachable_rules.hpp>

namespace shardplan {
namespace {

bool contains_all(const std::vector<std::string>& axes, const std::vector<std::string>& part) {
  return std::all_of(part.begin(), part.end(),
                     [&](const auto& axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); });
}

bool hides(const Rule& earlier, const Rule& later) {
  return earlier.logical == later.logical && contains_all(later.axes, earlier.axes);
}

}  // namespace

std::vector<UnreachableRule> unreachable_rules(const RuleSet& rules) {
  std::vector<UnreachableRule> hidden;
  const auto begin = rules.rules.begin();
  for (auto later = begin; later != rules.rules.end(); ++later) {
    const auto earlier = std::find_if(begin, later, [&](const Rule& rule) { return hides(rule, *later); });
    if (earlier != later)
      hidden.push_back({static_cast<std::size_t>(later - begin), static_cast<std::size_t>(earlier - begin)});
  }
  return hidden;
}

}  // namespace shardplan
