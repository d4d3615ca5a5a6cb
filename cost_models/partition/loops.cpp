#include <algorithm>
#include <cost_models/partition/loops.hpp>

namespace shardplan {

std::vector<Loop> loops_of(std::span<const PartitionedBlock> blocks) {
  std::vector<Loop> loops;
  loops.reserve(blocks.size());
  for (const auto& block : blocks) {
    if (!block.block->continues_cycle || loops.empty()) loops.emplace_back();
    loops.back().push_back(&block);
  }
  return loops;
}

std::int64_t whole_cycles(const Loop& loop) {
  std::int64_t cycles = loop.front()->block->layers;
  for (const PartitionedBlock* block : loop)
    cycles = std::min(cycles, block->block->layers / block->block->layers_per_cycle);
  return cycles;
}

std::int64_t layers_behind_scan(const Block& block, std::int64_t cycles) {
  return std::max<std::int64_t>(0, block.layers - cycles * block.layers_per_cycle);
}

}  // namespace shardplan
