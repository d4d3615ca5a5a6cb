#pragma once
// Blocks that were partitioned under one rule set on meshes of the same sizes. Schedules of a pipeline that differ in how
// often they run a block partition it alike, and so do meshes whose axes lie on other links.
#include <cost_models/partition/partitioned_block.hpp>
#include <optional>
#include <shardplan/attention/splash_blocks.hpp>
#include <unordered_map>

namespace shardplan {

class KnownBlocks {
 public:
  /// What partitioning the program's block `index` under these settings makes of it; empty where none is known that
  /// computes, keeps and recomputes the same.
  std::optional<PartitionedBlock> find(const BoundProgram& program, std::size_t index, const Liveness& liveness,
                                       const TrainConfig& config, const Compiler& compiler) const;
  /// The program must outlive this.
  void add(const BoundProgram& program, std::size_t index, const PartitionedBlock& block, const TrainConfig& config);

 private:
  /// What beside the block and the sizes of the mesh partitioning it depends on.
  struct Setting {
    std::size_t index;
    bool repeats;  ///< a stage runs several times
    bool several_microbatches;  ///< of a stage: rows of the table go to its buffers
    bool gathered_once;
    std::int64_t accumulation;
    bool optimizer_over_data;
    SplashBlocks attention_blocks;
    std::int64_t expert_slices;  ///< of the devices that share the experts: an exchange between two is another one
    bool operator==(const Setting&) const = default;
  };
  struct Known {
    Setting setting;
    PartitionedBlock block;
  };
  static Setting setting_of(const BoundProgram& program, std::size_t index, const TrainConfig& config);
  static std::size_t hash_of(const Setting& setting, const Block& block, const Liveness& liveness);

  std::unordered_multimap<std::size_t, Known> known_;  ///< by hash_of
};

}  // namespace shardplan
