#pragma once
// Which collective sums a sharded weight gradient. A reduce-scatter would do; XLA:TPU all-reduces and slices where the
// group is the whole of a large enough slice (Habit::all_reduces_over_whole_slices).
#include <cost_models/layouts/layout.hpp>
#include <shardplan/compiler/compiler.hpp>

namespace shardplan {

/// Whether a weight's gradient that is summed over `axes` is all-reduced, though each device keeps only its shard.
bool is_all_reduced(const AxisList& axes, const Mesh& mesh, const Compiler& compiler);

/// Of the axes that split the tokens those that split a weight too: its gradient is summed over them into shards.
AxisList summed_shards(const PartitionSpec& weight, const AxisList& tokens);

/// Whether that sum is a reduce-scatter; false where there is nothing to scatter.
bool is_reduce_scattered(const PartitionSpec& weight, const AxisList& tokens, const Mesh& mesh, const Compiler& compiler);

}  // namespace shardplan
