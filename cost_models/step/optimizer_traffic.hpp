#pragma once
// What the optimizer step moves beside the gradient reductions: ZeRO-1's gather of updated weights, Muon's
// Newton-Schulz.
#include <cost_models/partition/partitioned_block.hpp>
#include <shardplan/compiler/compiler.hpp>

namespace shardplan {

/// shard_optimizer_over_data (SHARDING.md 3.4): each device updates its data shard of the weights. train_compile's
/// program gathers them after the update, in weight_dtype; the training loop's keeps the shards and gathers at the
/// start of the next step. Where the dim that takes `data` is already split (data·fsdp), shards are permuted first.
std::vector<Collective> zero1_traffic(const BoundProgram& program, const std::vector<PartitionedBlock>& blocks,
                                      const TrainConfig& config, const Compiler& compiler);

/// opt_type=muon (SHARDING.md 3.3): five Newton-Schulz steps X' = aX + (bA + cA²)X, A = X·Xᵀ, on every matrix of the
/// layers (muon_matrix.hpp). An axis that splits the contracted dim leaves A in parts: all-reduce, float32. One that
/// splits the kept dim leaves X and A in rows: both are gathered (recorded for both). Split on both dims, A is summed in
/// rows where these are more than the parts of the contracted dim, else whole (qwen34bx8_v5p8_fsdp4tp2_muon: feed-forward
/// under fsdp=4 beside tensor=2, key and value under tensor=2 beside fsdp=4).
std::vector<Collective> muon_traffic(const BoundProgram& program, const std::vector<PartitionedBlock>& blocks,
                                     const TrainConfig& config, const Compiler& compiler);

}  // namespace shardplan
