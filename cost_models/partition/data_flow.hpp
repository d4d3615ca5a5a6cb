#pragma once
// Which operation of a block makes each tensor and which read it, looked up instead of searched for: costing a block asks
// thousands of times.
#include <shardplan/program.hpp>
#include <span>

namespace shardplan {

class DataFlow {
 public:
  DataFlow() = default;
  explicit DataFlow(const Block& block);

  /// -1: it is there before the block runs.
  OperationId maker(TensorId tensor) const { return makers_[tensor]; }
  /// In program order, each once.
  std::span<const OperationId> readers(TensorId tensor) const {
    return std::span(readers_).subspan(begins_[tensor], begins_[tensor + 1] - begins_[tensor]);
  }
  /// The tensor that it is another name of: constraints are no operations to a device. Itself where no constraint makes it.
  TensorId origin(TensorId tensor) const { return origins_[tensor]; }

 private:
  std::vector<OperationId> makers_;
  std::vector<TensorId> origins_;
  std::vector<OperationId> readers_;  ///< of all tensors, one after the other
  std::vector<std::size_t> begins_;   ///< of each tensor's, and the end
};

}  // namespace shardplan
