#pragma once
// What a lookup holds at once in each of its partitionings, by which XLA's partitioner chooses one: it tries each and takes
// the one whose gather, or collective, has the smallest operands and result (EvaluatePartitionCost in
// spmd_partitioner_util.h, MemoryCostInBytes in spmd_partitioner.cc; gather_scatter_handler.cc for lookups and their
// gradients).
#include <cost_models/operations/operation_kinds.hpp>

namespace shardplan {

/// Whether looking up in the gathered table holds less than looking up in a device's own columns, which `moves` take to
/// the rows' layout.
bool looks_up_in_less_when_gathered(const BlockState& state, const Operation& op, const Moves& moves);

}  // namespace shardplan
