#pragma once
// Tiles of the grouped kernel for quantized experts. kernels/megablox/backend.py calls it through Qwix, which cuts an expert
// weight's scales, one a column, as the kernel's tiles cut its columns, and asserts that they can be cut (qwix
// _src/core/pallas.py; compiled: qwen3-next of 512 columns in tiles of 1024). Tokamax's kernel isn't called so; a constant
// scale is one number.
#include <cstdint>
#include <shardplan/configuration.hpp>

namespace shardplan {

/// Of experts' weights on a device: the rule of their columns in the experts' shard_map says how they are split.
std::int64_t expert_columns(const Configuration& configuration);

/// Whether wi_tile_fwd_mlp_dim doesn't divide them where it has to: MaxText doesn't trace such a run.
bool tiles_cut_scales(const Configuration& configuration);

/// Gives it a tile that does, where that alone mends it (int8).
void divide_expert_columns(Configuration& configuration);

}  // namespace shardplan
