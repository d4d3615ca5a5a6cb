#pragma once
// Writes collectives down with their reason.
#include <cost_models/partition/partitioned_block.hpp>
#include <cost_models/partition/reshard.hpp>

namespace shardplan {

/// Collects the collectives of one block.
class Recorder {
 public:
  Recorder(const Block& block, const Mesh& mesh) : block_(block), mesh_(mesh) {}

  void record(Phase phase, const Move& move, std::string_view op, std::string why, std::int64_t executions);
  void record_all(Phase phase, const std::vector<Move>& moves, std::string_view op, const std::string& why,
                  std::int64_t executions);
  /// "'fsdp'+'expert'"
  std::string axis_names(const AxisList& axes) const;
  std::vector<Collective> take() { return std::move(collectives_); }

 private:
  const Block& block_;
  const Mesh& mesh_;
  std::vector<Collective> collectives_;
};

}  // namespace shardplan
