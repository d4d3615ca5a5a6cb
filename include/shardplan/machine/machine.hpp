#pragma once
// As much of one kind of machine as a run has.
#include <shardplan/machine/hardware.hpp>

namespace shardplan {

struct Machine {
  HardwareProfile hardware;
  Slice slice;         ///< one TPU slice, or one node (or part of it) of GPUs
  int num_slices = 1;  ///< slices or nodes, joined by the dcn_* axes
};

}  // namespace shardplan
