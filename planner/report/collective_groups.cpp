#include <algorithm>
#include <map>
#include <planner/report/collective_groups.hpp>
#include <planner/words/collective_words.hpp>
#include <tuple>

namespace shardplan {
namespace {

struct Sum {
  CollectiveGroup group;
  std::map<std::string, std::int64_t> bytes_by_operation;
};

void add(Sum& sum, const Collective& collective, const Place& place) {
  const Bytes bytes = collective.moved();
  sum.group.kind = collective.kind;
  sum.group.axes = collective.axes;
  sum.group.module = place.block + "/" + place.module;
  sum.group.executions += collective.executions;
  sum.group.bytes += bytes;
  sum.group.seconds += collective.seconds;
  if (!place.operation.empty()) sum.bytes_by_operation[place.operation] += bytes.value;
}

CollectiveGroup finished(const Sum& sum) {
  std::vector<std::pair<std::int64_t, std::string>> ranked;
  for (const auto& [operation, bytes] : sum.bytes_by_operation) ranked.emplace_back(-bytes, operation);
  std::sort(ranked.begin(), ranked.end());
  CollectiveGroup group = sum.group;
  for (const auto& [bytes, operation] : ranked) group.operations.push_back(operation);
  return group;
}

auto rank_of(const CollectiveGroup& group) {
  return std::tuple(-group.seconds.value, -group.bytes.value, group.kind, group.axes, group.module);
}

}  // namespace

std::vector<CollectiveGroup> group_collectives(const Evaluation& evaluation) {
  if (evaluation.collectives.empty()) return {};
  std::map<std::tuple<CollectiveKind, AxisList, std::string, std::string>, Sum> sums;
  for (const auto& collective : evaluation.collectives) {
    const Place place = place_of(collective, evaluation.laid_out->program);
    add(sums[{collective.kind, collective.axes, place.block, place.module}], collective, place);
  }
  std::vector<CollectiveGroup> groups;
  for (const auto& [key, sum] : sums) groups.push_back(finished(sum));
  std::sort(groups.begin(), groups.end(),
            [](const CollectiveGroup& a, const CollectiveGroup& b) { return rank_of(a) < rank_of(b); });
  return groups;
}

CollectiveGroup sum_of(const std::vector<CollectiveGroup>& groups, std::size_t first) {
  CollectiveGroup total;
  for (std::size_t i = first; i < groups.size(); ++i) {
    total.executions += groups[i].executions;
    total.bytes += groups[i].bytes;
    total.seconds += groups[i].seconds;
  }
  return total;
}

}  // namespace shardplan
