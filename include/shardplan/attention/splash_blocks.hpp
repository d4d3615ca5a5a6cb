#pragma once
// The blocks of splash attention (TPUs) that a run may choose among: MaxText's sa_block_* and sa_use_fused_bwd_kernel.
#include <cstdint>
#include <shardplan/compiler/compiler.hpp>
#include <shardplan/model.hpp>
#include <shardplan/settings.hpp>
#include <shardplan/train_config.hpp>
#include <string>
#include <vector>

namespace shardplan {

struct SplashBlocks {
  std::int64_t size = 512;  ///< queries, and keys, of all kernels
  bool fused = false;       ///< all gradients in one kernel (sa_use_fused_bwd_kernel); tokamax has no other
  auto operator<=>(const SplashBlocks&) const = default;
};

/// What MaxText has where nobody says it.
inline constexpr SplashBlocks default_splash_blocks{};

TrainConfig with_splash_blocks(TrainConfig config, SplashBlocks blocks);

/// Those of a run whose kernels all have one size.
SplashBlocks splash_blocks_in(const TrainConfig& config);

bool has_default_splash_blocks(const TrainConfig& config);

/// "blocks of 1024, gradients in one kernel"
std::string describe_splash_blocks(const TrainConfig& config);

/// Whether one of them was asked for.
bool says_splash_blocks(const Settings& settings);

/// 512, 1024 and 2048 with gradients in one kernel or two, smallest first: those that a run's kernel has and the compiler
/// has VMEM for, MaxText's own among them. None where attention is not splash, reads other numbers than bfloat16, or has
/// data for a mask. 1024 compiles under the default VMEM limits of v5p, v6e and 7x, 2048 with 64 MiB (scores of 2048 x 2048
/// are 16 MiB in float32, and the gradient has several; hardware/compiled/splash_cycles.py compiles them for heads of 128
/// and 256).
std::vector<SplashBlocks> splash_blocks_of(const TrainConfig& config, const Compiler& compiler, const Model& model);

}  // namespace shardplan
