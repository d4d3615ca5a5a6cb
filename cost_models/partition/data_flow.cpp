#include <algorithm>
#include <cost_models/partition/data_flow.hpp>
#include <numeric>

namespace shardplan {
namespace {

/// Calls `use` with each tensor that an operation reads, once.
template <class Use>
void for_each_input(const Operation& op, Use use) {
  for (auto input = op.inputs.begin(); input != op.inputs.end(); ++input)
    if (std::find(op.inputs.begin(), input, *input) == input) use(*input);
}

}  // namespace

DataFlow::DataFlow(const Block& block)
    : makers_(block.tensors.size(), -1), origins_(block.tensors.size()), begins_(block.tensors.size() + 1, 0) {
  std::iota(origins_.begin(), origins_.end(), TensorId{0});
  for (std::size_t i = 0; i < block.operations.size(); ++i) {
    const Operation& op = block.operations[i];
    makers_[op.output] = static_cast<OperationId>(i);
    if (op.kind == OpKind::constrain) origins_[op.output] = origins_[op.inputs.front()];
    for_each_input(op, [&](TensorId input) { ++begins_[input + 1]; });
  }
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  readers_.resize(begins_.back());
  std::vector<std::size_t> next(begins_.begin(), begins_.end() - 1);
  for (std::size_t i = 0; i < block.operations.size(); ++i)
    for_each_input(block.operations[i], [&](TensorId input) { readers_[next[input]++] = static_cast<OperationId>(i); });
}

}  // namespace shardplan
