#pragma once
// Writes the collectives of one block down, with what they belong to and why they exist.
#include <cost_models/moves/reshard.hpp>

namespace shardplan {

/// What a collective is about; ids of the block that the recorder writes for.
struct Origin {
  OperationId operation = -1;  ///< -1: none; the tensor moves between steps or stages
  TensorId tensor = -1;
  Cause cause = Cause::operand_layout;
  Layout from = {};
  PartitionSpec to = {};
};

/// How often a collective of a block runs in a step: one of the block's own counts. So a block that was partitioned for one
/// schedule of a pipeline is another's, too, once it is counted again.
enum class RunCount : std::uint8_t {
  once,                     ///< a step
  body,                     ///< Block::executions
  behind_first,             ///< those of all but the first layer of a scan's iteration
  each_layer,               ///< once a step for each layer of a device
  gathers,                  ///< WeightSchedule's
  backward_gathers,         ///< likewise
  reductions,               ///< likewise
  whole_reductions,         ///< likewise
  each_repeat,              ///< reductions of gradients that every repeat of a pipeline sums
  each_repeat_and_drained,  ///< and once more for the iterations that drain it
};

/// So many times each.
struct Runs {
  RunCount count;
  std::int64_t times = 1;
  Runs(RunCount of, std::int64_t each = 1) : count(of), times(each) {}
};

std::int64_t runs_of(const Runs& runs, const Block& block, const PipelineShape& pipeline);

/// Whether what runs at all in the one runs in the other.
bool runs_alike(const Block& a, const Block& b);

class Recorder {
 public:
  /// Throws InternalError when `block` is not one of the program's.
  Recorder(const Program& program, const Block& block, const Mesh& mesh);

  /// Nothing, and false, where the group is one device, nothing moves or nothing runs.
  bool record(Phase phase, const Move& move, const Origin& origin, std::int64_t executions);
  /// The same of what runs as often as one of the block's counts says, which is noted (take_counts).
  void record(Phase phase, const Move& move, const Origin& origin, const Runs& runs);
  void record_all(Phase phase, const Moves& moves, const Origin& origin, const Runs& runs);
  const std::vector<Collective>& collectives() const { return collectives_; }
  std::vector<Collective> take() { return std::move(collectives_); }
  std::vector<Runs> take_counts() { return std::move(counts_); }

 private:
  const Program& program_;
  BlockId block_;
  const Mesh& mesh_;
  std::vector<Collective> collectives_;
  std::vector<Runs> counts_;  ///< of those that were recorded with one
};

}  // namespace shardplan
