#include <algorithm>
#include <shardplan/evaluation.hpp>

namespace shardplan {

std::optional<StepRange> range_of(const Evaluation& evaluation) {
  if (evaluation.assumed.empty()) return std::nullopt;
  StepRange range{evaluation.time.step(), evaluation.time.step()};
  for (const AssumedStep& assumed : evaluation.assumed) {
    range.low = std::min(range.low, assumed.low);
    range.high = std::max(range.high, assumed.high);
  }
  return range;
}

}  // namespace shardplan
