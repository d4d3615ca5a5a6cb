#pragma once
// Writes the collectives of one block down, with what they belong to and why they exist.
#include <cost_models/partition/reshard.hpp>

namespace shardplan {

/// What a collective is about; ids of the block that the recorder writes for.
struct Origin {
  OperationId operation = -1;  ///< -1: none; the tensor moves between steps or stages
  TensorId tensor = -1;
  Cause cause = Cause::operand_layout;
  Layout from = {};
  PartitionSpec to = {};
};

class Recorder {
 public:
  /// Throws InternalError when `block` is not one of the program's.
  Recorder(const Program& program, const Block& block, const Mesh& mesh);

  /// Nothing where the group is one device, nothing moves or nothing runs.
  void record(Phase phase, const Move& move, const Origin& origin, std::int64_t executions);
  void record_all(Phase phase, const Moves& moves, const Origin& origin, std::int64_t executions);
  std::vector<Collective> take() { return std::move(collectives_); }

 private:
  BlockId block_;
  const Mesh& mesh_;
  std::vector<Collective> collectives_;
};

}  // namespace shardplan
