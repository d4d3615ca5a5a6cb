#pragma once
// What a loop of layers brings to the moments of a step (moments.hpp), whichever order they come in.
#include <cost_models/memory/working_set.hpp>
#include <shardplan/compiler/compiler.hpp>

namespace shardplan {

/// Bytes of one device.
struct LoopParts {
  Bytes waiting;  ///< saved for its backward pass
  Bytes copies;   ///< of its stacked weights
  Bytes peeled;   ///< of what comes back from the host, what its peeled iteration reads
  Bytes merged;   ///< of layers behind the scan, what waits from their forward runs
  Bytes whole;    ///< weight gradients of layers behind the scan, where a slice all-reduces them
  Bytes behind;   ///< those of layers that no whole cycle of the scan holds
};

LoopParts loop_parts(const Loop& loop, const BoundProgram& program, const TrainConfig& config, const Compiler& compiler);

}  // namespace shardplan
