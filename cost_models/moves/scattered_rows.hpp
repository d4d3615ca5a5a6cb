#pragma once
// How XLA:TPU sums the gradient of a matrix over devices that each keep some of its rows (Habit::pads_scattered_rows, pass
// tpu-all-reduce-scatter-fusion): piece by piece, equal ones, each of whole rows of tiles and an even number of tiles. Rows
// that don't come out are padded at the end of the matrix, so that shards begin elsewhere: a permute puts them in order.
#include <cost_models/layouts/layout.hpp>
#include <cost_models/moves/reshard.hpp>
#include <cstdint>
#include <optional>

namespace shardplan {

/// Rows of a matrix of `rows` x `columns`, `size` bytes an element, as they are summed over a group of `devices`; none if
/// no piece of it fits: then the sum is an all-reduce. `in_halves`: of a whole slice of 2x2, each half in pieces.
/// 4096 x 14336 in bf16 over 8 devices: 4160, 13 pieces of 40 rows a device; 4096 x 16384: 4096, 16 of 32.
std::optional<std::int64_t> scattered_rows(std::int64_t rows, std::int64_t columns, std::int64_t size, std::int64_t devices,
                                           bool in_halves, const Compiler& compiler);

/// Whether a shard_map takes the weight whole (experts on the sparse paths): its gradient is a psum there.
enum class InShardMap : std::uint8_t { no, yes };

/// The reduce-scatter of a gradient, split as `spec` before it is scattered, as it is emitted: itself; with padded rows and
/// permutes behind it; or an all-reduce.
Moves scattered_in_pieces(const Move& scatter, const Tensor& weight, const PartitionSpec& spec, const PartitionSpec& wanted,
                          const Mesh& mesh, InShardMap in_shard_map, const Compiler& compiler);

}  // namespace shardplan
