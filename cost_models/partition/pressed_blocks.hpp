#pragma once
// Blocks as a scheduler runs them that picks what frees most.
#include <cost_models/partition/partitioned_block.hpp>
#include <vector>

namespace shardplan {

/// Whether memory that is short makes any run otherwise.
bool is_freed_under_pressure(const std::vector<PartitionedBlock>& blocks);

/// As they run where memory is short; empty: as ever.
std::vector<PartitionedBlock> under_pressure(const std::vector<PartitionedBlock>& blocks);

/// As they run where XLA takes its list, likewise: dense layers as under pressure. What the list needs inside of mixtures is
/// not known (docs/cost-model.md, "Which schedule XLA takes"). A weight whose devices hold no whole tiles, gathered row by
/// row, is gathered again before its layer makes what is larger: at the iteration's begin
/// (plan_gemma312b_tpuv6e_256, gemma34bx12_v6e256_fsdp256_full_batch8, plan_gemma312b_tpuv6e_64_s4096_full).
std::vector<PartitionedBlock> in_list(const std::vector<PartitionedBlock>& blocks);

}  // namespace shardplan
