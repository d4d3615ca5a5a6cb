#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <shardplan/attention/splash_blocks.hpp>

namespace shardplan {
namespace {

constexpr std::array<std::int64_t TrainConfig::*, 6> block_members = {
    &TrainConfig::sa_block_q,      &TrainConfig::sa_block_kv,     &TrainConfig::sa_block_kv_compute,
    &TrainConfig::sa_block_q_dkv,  &TrainConfig::sa_block_kv_dkv, &TrainConfig::sa_block_kv_dkv_compute};
constexpr std::array<std::int64_t TrainConfig::*, 2> second_kernel_members = {&TrainConfig::sa_block_q_dq,
                                                                              &TrainConfig::sa_block_kv_dq};

bool has_room_for(std::int64_t size, const Compiler& compiler) {
  constexpr std::int64_t largest_by_default = 1024;
  constexpr Bytes needed_beyond{64 << 20};
  return size <= largest_by_default || compiler.setting(CompilerSetting::scoped_vmem_limit) >= needed_beyond;
}

}  // namespace

TrainConfig with_splash_blocks(TrainConfig config, SplashBlocks blocks) {
  config.sa_use_fused_bwd_kernel = blocks.fused;
  for (const auto member : block_members) config.*member = blocks.size;
  const bool is_read = !config.fuses_attention_gradients();
  for (const auto member : second_kernel_members) config.*member = is_read ? blocks.size : default_splash_blocks.size;
  return config;
}

SplashBlocks splash_blocks_in(const TrainConfig& config) { return {config.sa_block_q, config.sa_use_fused_bwd_kernel}; }

std::string describe_splash_blocks(const TrainConfig& config) {
  return fmt::format("blocks of {}, gradients in {}", config.sa_block_q,
                     config.fuses_attention_gradients() ? "one kernel" : "two kernels");
}

bool has_default_splash_blocks(const TrainConfig& config) {
  return with_splash_blocks(config, default_splash_blocks) == config;
}

bool says_splash_blocks(const Settings& settings) {
  const auto is_said = [&](auto member) { return settings.says(member); };
  return settings.says(&TrainConfig::sa_use_fused_bwd_kernel) ||
         std::any_of(block_members.begin(), block_members.end(), is_said) ||
         std::any_of(second_kernel_members.begin(), second_kernel_members.end(), is_said);
}

std::vector<SplashBlocks> splash_blocks_of(const TrainConfig& config, const Compiler& compiler, const Model& model) {
  if (!runs_splash(config, compiler) || config.dtype != DType::bf16 || model.masks_keys()) return {};
  std::vector<SplashBlocks> all;
  for (const std::int64_t size : {512, 1024, 2048})
    for (const bool fused : {false, true}) {
      const bool same_kernel = config.runs_tokamax_splash() && fused != config.sa_use_fused_bwd_kernel;
      if (!same_kernel && has_room_for(size, compiler)) all.push_back({size, fused});
    }
  return all;
}

}  // namespace shardplan
