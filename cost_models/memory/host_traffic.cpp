#include <algorithm>
#include <cost_models/layouts/stacked_layers.hpp>
#include <cost_models/memory/host_traffic.hpp>
#include <cost_models/memory/saved_value.hpp>
#include <cost_models/memory/state/static_memory.hpp>
#include <cost_models/partition/loops.hpp>

namespace shardplan {

Bytes offloaded_in_one_run(const PartitionedBlock& block, const Mesh& mesh) {
  Bytes bytes;
  for (const TensorId id : block.liveness.offloaded)
    bytes += saved_bytes(block, id, mesh);
  return bytes;
}

bool HostTraffic::empty() const {
  return optimizer.value == 0 && parameters.value == 0 &&
         std::all_of(activations.begin(), activations.end(), [](Bytes bytes) { return bytes.value == 0; });
}

HostTraffic HostTraffic::none(std::size_t blocks) {
  const std::vector<Bytes> nothing(blocks);
  return {nothing, nothing, nothing, {}, {}};
}

Bytes offloaded(const BoundProgram& program, const std::vector<PartitionedBlock>& blocks) {
  Bytes all;
  for (const auto& block : blocks)
    all += offloaded_in_one_run(block, *program.mesh) * layers_on_device(*block.block, program.program->pipeline);
  return all;
}

void add_shares(HostTraffic& traffic, const Loop& loop, const Mesh& mesh) {
  Bytes input, longest;
  std::int64_t layers = 0;
  for (const PartitionedBlock* block : loop) {
    for (const TensorId id : block->liveness.offloaded) {
      Bytes& largest = id == block->block->input ? input : longest;
      largest = std::max(largest, saved_bytes(*block, id, mesh));
    }
    layers += block->block->layers_per_cycle;
  }
  for (const PartitionedBlock* block : loop) {
    traffic.inputs.push_back({input.value * block->block->executions / layers});
    traffic.longest.push_back({longest.value * block->block->executions / layers});
  }
}

HostTraffic host_traffic(const BoundProgram& program, const std::vector<PartitionedBlock>& blocks,
                         const TrainConfig& config) {
  HostTraffic traffic;
  for (const Loop& loop : loops_of(blocks)) add_shares(traffic, loop, *program.mesh);
  for (const auto& block : blocks) {
    traffic.activations.push_back(offloaded_in_one_run(block, *program.mesh) * block.block->executions);
    if (config.optimizer_memory_host_offload) traffic.optimizer += optimizer_state_bytes(block, program, config);
    if (config.parameter_memory_host_offload) traffic.parameters += parameter_bytes(block, program, config);
  }
  return traffic;
}

}  // namespace shardplan
