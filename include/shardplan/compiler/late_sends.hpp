#pragma once
// When what a remat policy moves to the host leaves the device.
#include <shardplan/compiler/compiler.hpp>
#include <shardplan/train_config.hpp>

namespace shardplan {

/// Whether it is on the device all the same, to its backward pass: no loop runs the layers
/// (Habit::sends_late_without_loops). A pipeline's iterations are one.
inline bool sends_late(const TrainConfig& config, const Compiler& compiler) {
  return !config.scan_layers && compiler.has(Habit::sends_late_without_loops);
}

}  // namespace shardplan
