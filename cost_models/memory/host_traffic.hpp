#pragma once
// What a step moves between a device and its host's memory: activations that the remat policy offloads, out in the
// forward pass and back in the backward pass, and the optimizer's state (optimizer_memory_host_offload), which MaxText's
// train_step brings to the device before the update and writes back after it (trainers/pre_train/train.py). Likewise the
// parameters (parameter_memory_host_offload): all of them before the forward pass, so that nothing is spared on the device
// while a step runs (recorded: ll7x4_v5p8_fsdp8_paramhost, among the misses).
#include <cost_models/partition/partitioned_block.hpp>
#include <shardplan/train_config.hpp>

namespace shardplan {

/// Bytes of one device in a step, each way.
struct HostTraffic {
  std::vector<Bytes> activations;  ///< by block, of all its runs
  /// The same of what an iteration of the layer scan moves, shared out among its layers: what enters it, where that is
  /// offloaded, and the largest of its other values.
  std::vector<Bytes> inputs, longest;
  Bytes optimizer, parameters;
  bool empty() const;
  static HostTraffic none(std::size_t blocks);
};

/// Of one layer.
Bytes offloaded_in_one_run(const PartitionedBlock& block, const Mesh& mesh);
/// Of all layers of a device.
Bytes offloaded(const BoundProgram& program, const std::vector<PartitionedBlock>& blocks);

HostTraffic host_traffic(const BoundProgram& program, const std::vector<PartitionedBlock>& blocks,
                         const TrainConfig& config);

}  // namespace shardplan
