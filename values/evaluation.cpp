#include <algorithm>
#include <shardplan/error.hpp>
#include <shardplan/evaluation.hpp>

namespace shardplan {

std::string_view name_of(Fit fit) {
  switch (fit) {
    case Fit::fits:
      return "fits";
    case Fit::marginal:
      return "marginal";
    case Fit::does_not_fit:
      return "does_not_fit";
  }
  throw InternalError("unknown Fit");
}

std::string_view name_of(HeldAs as) {
  switch (as) {
    case HeldAs::activation:
      return "activation";
    case HeldAs::temporary:
      return "temporary";
  }
  throw InternalError("unknown HeldAs");
}

Fit MemoryUse::fit() const {
  if (low > capacity) return Fit::does_not_fit;
  return high <= allowed() ? Fit::fits : Fit::marginal;
}

ComputeSeconds& ComputeSeconds::operator+=(const ComputeSeconds& other) {
  matmul += other.matmul;
  grouped_matmul += other.grouped_matmul;
  attention += other.attention;
  vector += other.vector;
  bias_gradients += other.bias_gradients;
  optimizer += other.optimizer;
  contention += other.contention;
  return *this;
}

ComputeSeconds operator+(ComputeSeconds a, const ComputeSeconds& b) { return a += b; }

ComputeSeconds operator*(const ComputeSeconds& a, double n) {
  return {a.matmul * n,         a.grouped_matmul * n, a.attention * n, a.vector * n,
          a.bias_gradients * n, a.optimizer * n,      a.contention * n};
}

std::optional<StepRange> range_of(const Evaluation& evaluation) {
  if (evaluation.assumed.empty()) return std::nullopt;
  StepRange range{evaluation.time.step(), evaluation.time.step()};
  for (const AssumedStep& assumed : evaluation.assumed) {
    range.low = std::min(range.low, assumed.low);
    range.high = std::max(range.high, assumed.high);
  }
  return range;
}

std::optional<StepRange> range_with_routing(const Evaluation& evaluation) {
  auto range = range_of(evaluation);
  if (range) *range = {range->low + evaluation.time.all_token_routing, range->high + evaluation.time.all_token_routing};
  return range;
}

}  // namespace shardplan
