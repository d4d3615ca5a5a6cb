#pragma once
// As much of one kind of machine as a run has.
#include <shardplan/machine/hardware.hpp>
#include <shardplan/mesh/mesh.hpp>

namespace shardplan {

struct Machine {
  HardwareProfile hardware;
  Slice slice;         ///< one TPU slice, or one node (or part of it) of GPUs
  int num_slices = 1;  ///< slices or nodes, joined by the dcn_* axes
  std::int64_t devices() const { return std::int64_t{slice.devices} * num_slices; }
};

/// Hosts that the chips of one slice are in: a torus and a graph may span several.
int hosts_of(const HardwareProfile& hardware, const Slice& slice);

/// A mesh whose axes are whole sizes, over the slices or nodes: its first axes are the outermost, for consecutive devices,
/// which fill a slice or node, differ along the last ones. Throws InputError where the slices don't divide it.
Mesh spread_over(Mesh mesh, const Machine& machine);

}  // namespace shardplan
