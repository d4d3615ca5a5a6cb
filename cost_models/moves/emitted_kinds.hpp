#pragma once
// All-reduces that XLA:TPU emits where less would do: of a sharded weight gradient, which is then sliced, in place of a
// reduce-scatter (Habit::all_reduces_over_whole_slices, all_reduces_indivisible_words), likewise of an activation
// (all_reduces_over_whole_slices, scatters_even_tiles_of_activations), and on some slices of shards among
// zeros in place of an all-gather (Habit::gathers_whole_slices_by_all_reduce, gathers_outer_halves_by_all_reduce).
#include <cost_models/layouts/layout.hpp>
#include <shardplan/collective/collective.hpp>
#include <shardplan/compiler/compiler.hpp>
#include <vector>

namespace shardplan {

/// Whether the gradient of `weight`, split as `spec`, that is summed over `axes` is all-reduced, though each device keeps
/// only its shard: over a whole slice or, of a head whose words can't be taken in pieces, over any axes.
bool is_all_reduced(const Tensor& weight, const PartitionSpec& spec, const AxisList& axes, const Mesh& mesh,
                    const Compiler& compiler);

/// Of the axes that split the tokens those that split a weight too: its gradient is summed over them into shards.
AxisList summed_shards(const PartitionSpec& spec, const AxisList& tokens);

/// Whether that sum is a reduce-scatter; false where there is nothing to scatter.
bool is_reduce_scattered(const Tensor& weight, const PartitionSpec& spec, const AxisList& tokens, const Mesh& mesh,
                         const Compiler& compiler);

/// The program's collectives with the gathers, and the sums of activations, that come out as all-reduces as such: the same
/// bytes, twice the way.
std::vector<Collective> as_emitted(std::vector<Collective> collectives, const Program& program, const Mesh& mesh,
                                   const Compiler& compiler);

}  // namespace shardplan
