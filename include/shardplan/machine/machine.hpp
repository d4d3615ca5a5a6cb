#pragma once
// As much of one kind of machine as a run has.
#include <shardplan/machine/hardware.hpp>

namespace shardplan {

struct Machine {
  HardwareProfile hardware;
  Slice slice;         ///< one TPU slice, or one node (or part of it) of GPUs
  int num_slices = 1;  ///< slices or nodes, joined by the dcn_* axes
  std::int64_t devices() const { return std::int64_t{slice.devices} * num_slices; }
};

/// Hosts that the chips of one slice are in: a torus and a graph may span several.
int hosts_of(const HardwareProfile& hardware, const Slice& slice);

}  // namespace shardplan
