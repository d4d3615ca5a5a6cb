#pragma once
// How often the kernels of splash attention (TPUs) run their loop over blocks of queries and keys. Counts of one sequence
// and one head; still without a machine.
#include <cstdint>
#include <shardplan/attention/attention_window.hpp>
#include <string_view>

namespace shardplan {

/// jax.experimental.pallas.ops.tpu.splash_attention, or tokamax's (MaxText's use_tokamax_splash).
enum class SplashLibrary : std::uint8_t { jax, tokamax };

enum class SplashKernel : std::uint8_t {
  forward,             ///< q·k, p·v
  query_gradient,      ///< q·k, do·v, ds·k (dq)
  key_value_gradient,  ///< q·k, do·v, ds·q, p·do (dkv)
  fused_gradient,      ///< all five products at once (sa_use_fused_bwd_kernel; tokamax has no other)
};
std::string_view name_of(SplashLibrary library);  ///< "tokamax"
std::string_view name_of(SplashKernel kernel);    ///< "query_gradient"

/// Width of a head of so many numbers in registers, which hold 128: 64 take 128, 192 take 256.
double register_lanes(std::int64_t width);

/// Products of a visited block.
int products_of(SplashKernel kernel);

struct BlockSizes {
  std::int64_t queries = 0, keys = 0;
  std::int64_t multiplied_keys = 0;  ///< of keys, those that are multiplied at a time (sa_block_kv_compute)
};

struct BlockLoop {
  SplashLibrary library = SplashLibrary::jax;
  SplashKernel kernel = SplashKernel::forward;
  BlockSizes block;
  double lanes = 0;    ///< of a head, as registers hold it: whole 128s; where keys and values differ, their mean
  double heads = 1;    ///< heads × sequences that the counts stand for
  double visited = 0;  ///< blocks of which the mask leaves something
  double masked = 0;   ///< of these, those of which it cuts something off
  double rows = 0;     ///< of blocks: of queries, in gradients of keys and values of keys
  double steps = 0;    ///< of the grid, blocks that the mask leaves out among them
};

/// Causal attention of `sequence` tokens under `window`; sizes larger than the sequence are the sequence. lanes and heads
/// are the caller's. 4,096 tokens in blocks of 1,024 by 1,024: 10 of 16 blocks visited, 4 of them masked.
///
/// Steps of the grid: jax's kernels take as many for each row of blocks as its fullest row needs (shrink_grid of
/// splash_attention_mask_info.py), its fused gradient all of them; tokamax's forward kernel visits what the mask leaves
/// (return_dynamic_grid), its gradient all of them (dq_reduction_steps=3 aside).
BlockLoop block_loop(SplashLibrary library, SplashKernel kernel, std::int64_t sequence, AttentionWindow window,
                     BlockSizes block);

}  // namespace shardplan
