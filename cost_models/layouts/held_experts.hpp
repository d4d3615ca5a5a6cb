#pragma once
// Experts' weights that a pipeline gathers once, in front of its loops, and holds until the backward pass is through
// (Habit::holds_experts_of_stages). Where stages run once (one repeat) the weights of a stage's layers are the same in every
// iteration; what a shard_map reads of them is gathered by an operation of its own, which XLA moves out of the loop.
// Gathers that products ask for (dense layers, the dropping path) are made inside and stay there.
#include <shardplan/compiler/compiler.hpp>
#include <shardplan/program.hpp>
#include <shardplan/train_config.hpp>

namespace shardplan {

/// Whether weights of the block that enter a shard_map (enters_shard_map) are held.
bool holds_gathered_experts(const Block& block, const PipelineShape& pipeline, const TrainConfig& config,
                            const Compiler& compiler);

/// Whether the backward loop gathers them again all the same: where no cast made a copy of them
/// (Habit::gathers_held_experts_again).
bool gathers_held_experts_again(const TrainConfig& config, const Compiler& compiler);

}  // namespace shardplan
