#pragma once
// Blocks whose layers run in one scan, iteration by iteration, and what no whole iteration of it holds.
#include <cost_models/partition/partitioned_block.hpp>
#include <span>

namespace shardplan {

/// Blocks whose layers share one layer scan (Block::continues_cycle), in execution order; a block alone otherwise.
using Loop = std::vector<const PartitionedBlock*>;
std::vector<Loop> loops_of(std::span<const PartitionedBlock> blocks);

/// Iterations for which each of the loop's blocks has layers.
std::int64_t whole_cycles(const Loop& loop);

/// Of a scan of so many iterations: layers that run behind it, backward in front of it (gemma3-4b: 34 layers, six a cycle).
std::int64_t layers_behind_scan(const Block& block, std::int64_t cycles);

}  // namespace shardplan
