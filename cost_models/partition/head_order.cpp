#include <algorithm>
#include <cost_models/partition/head_order.hpp>

namespace shardplan {

bool is_head_gradient_deferred(const Block& head, const Compiler& compiler) {
  const bool tied = std::any_of(head.tensors.begin(), head.tensors.end(), [](const Tensor& t) { return t.shared; });
  return compiler.has(Habit::defers_head_gradient) || (tied && compiler.has(Habit::defers_tied_head_gradient));
}

}  // namespace shardplan
