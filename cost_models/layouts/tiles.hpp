#pragma once
// What an array takes in memory where buffers consist of whole tiles (Habit::pads_to_tiles): XLA:TPU lays two dims out in
// tiles of 8 x 128, the minor one along the 128 lanes. docs: jax-ml/scaling-book, "How to think about TPUs"; every shape
// of a TPU program's text names its tiles (f32[1024,2048]{1,0:T(8,128)}).
#include <cost_models/layouts/layout.hpp>
#include <shardplan/compiler/compiler.hpp>

namespace shardplan {

/// Of an array's dims on a device, and the layers of a stack.
using LocalSizes = InlineList<std::int64_t, most_dims + 1>;

inline constexpr std::int64_t sublanes = 8;
inline constexpr std::int64_t lanes = 128;

/// Whether so many columns are whole tiles, and an odd number of them: such parts of a sum aren't scattered
/// (Habit::scatters_even_tiles and its kin).
inline bool are_odd_tiles(std::int64_t columns) { return columns % lanes == 0 && columns % (2 * lanes) != 0; }

/// Of few rows XLA:TPU makes lower tiles: f32[4,512]{1,0:T(4,128)}; 6 rows take 8.
std::int64_t tile_height(std::int64_t rows);

/// Elements of an array of these sizes with the two dims in tiles that waste least: [180, 2880] takes 180 x 2944 (lanes)
/// along whole tiles of 8, 184 x 2944; [32, 180, 2880] 32 x 180 x 2944.
std::int64_t tiled_elements(const LocalSizes& sizes);

/// Elements of one device's shard with its last dim along the lanes, whatever that wastes: how rows are read and written.
std::int64_t row_elements(const Tensor& tensor, const PartitionSpec& spec, const Mesh& mesh);

/// Queries, keys, values and what attention makes of them: their kernel wants the last dim along the lanes.
bool is_of_heads(const Tensor& tensor);

/// Elements that one device stores of a tensor under `spec`. Weights lie as wastes least, `layers` copies of them in one
/// array, of which this is one copy's share. Activations have their last dim along the lanes: heads, which the attention
/// kernel wants so, however short (64 takes the room of 128); others from a whole row of lanes on.
std::int64_t stored_elements(const Tensor& tensor, const PartitionSpec& spec, const Mesh& mesh, const Compiler& compiler,
                             std::int64_t layers = 1);

/// Whether the array of a weight's shards, of which `layers` share one, has its last dim along the lanes, beside it the one
/// before or the layers: f32[14336,3,2048]{2,0,1}. Where others waste less, it lies in another order, tiles of 8 experts in
/// place of 8 of 180 rows: f32[32,12,180,2880]{3,0,2,1} (plan_gptoss20b_tpuv6e_128).
bool lies_in_order(const Tensor& weight, const PartitionSpec& spec, const Mesh& mesh, const Compiler& compiler,
                   std::int64_t layers);

/// Whether of a scanned weight's shards, which MaxText stores [first dim, layers, …], each layer lies together: where tiles
/// of the last two dims waste nothing the array is row-major, its layers apart (bf16[512,32,11008]{2,1,0},
/// bf16[256,13,896,256]{3,2,1,0}); else the first dim goes into the tiles (bf16[512,26,11008]{2,0,1}).
bool lies_layer_major(const Tensor& weight, const PartitionSpec& spec, const Mesh& mesh, std::int64_t layers);

Bytes stored_bytes(const Tensor& tensor, const PartitionSpec& spec, const Mesh& mesh, const Compiler& compiler);

}  // namespace shardplan
