#pragma once
// The buffers that a moment of the step adds up (moments.hpp), by name.
#include <cost_models/memory/moments.hpp>
#include <shardplan/answer/held_buffer.hpp>

namespace shardplan {

/// Its activations and temporaries, the largest entry first: together they are what it says, but for what it makes in turn.
/// None of a moment that is no loop's backward pass. It must be of the same blocks.
std::vector<HeldBuffer> held_at(const Moment& moment, const std::vector<PartitionedBlock>& blocks,
                                const BoundProgram& program, const TrainConfig& config, const Compiler& compiler);

}  // namespace shardplan
