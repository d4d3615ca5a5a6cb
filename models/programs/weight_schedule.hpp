#pragma once
// How often a block's weights are gathered and their gradients reduced in one step.
#include <shardplan/compiler/compiler.hpp>
#include <shardplan/program.hpp>

namespace shardplan {

/// Block::executions must be set.
void schedule_weights(Program& program, const TrainConfig& config, const HabitSet& habits);

}  // namespace shardplan
