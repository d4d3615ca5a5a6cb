#pragma once
// The collectives that bring a tensor from one layout to another (SHARDING.md 3.0):
//   partial sum, target has the axis      reduce-scatter (else all-reduce, of what the scatters left)
//   axis only in the target               local slice, free
//   axis moves between two dims           all-to-all
//   axis not in the target                all-gather, all such axes in one group; or one a tensor dim, last dim first, each
//                                         on what the one before has grown (Habit::gathers_dim_by_dim)
// When axes leave one dim for several others no single all-to-all does it: XLA gathers all of them and slices
// (the "involuntary full rematerialization" of its log; recorded for embedding lookups under context parallelism). The
// same when a dim loses one axis to another dim and a second one to nobody.
#include <cost_models/layouts/layout.hpp>
#include <shardplan/collective/collective.hpp>
#include <shardplan/compiler/compiler.hpp>

namespace shardplan {

struct Move {
  CollectiveKind kind;
  AxisList axes;           ///< in mesh order
  Bytes bytes;             ///< as CollectiveKind says
  bool parameter = false;  ///< of a weight or its gradient
  GroupSpan span = GroupSpan::whole;
  bool operator==(const Move&) const = default;
};

/// At most one sum and one scatter, an exchange, and a gather a dim, twice.
using Moves = InlineList<Move, 2 * most_dims + 3>;

Moves reshard(const Tensor& tensor, const Layout& from, const PartitionSpec& to, const Mesh& mesh,
                          const Compiler& compiler);

/// Whether partial sums over `sums` go onto a dim that other axes split, too. No group of the result's shards is then the
/// group that sums, so that each device gets the whole sum, of the whole tensor, and takes its shard
/// (Habit::sums_unmatched_shards_whole).
bool is_unmatched(const AxisList& dim, const AxisList& sums);

/// Then: one all-reduce, and a gather over what split the sum.
Moves reshard_whole_sum(const Tensor& tensor, const Layout& from, const PartitionSpec& to, const Mesh& mesh,
                        const Compiler& compiler);

}  // namespace shardplan
