#include <algorithm>
#include <shardplan/rounding.hpp>
#include <shardplan/settings.hpp>

namespace shardplan {

namespace {

/// What MaxText takes of a model: sinks and the mask of an indexer or of pooled keys are not known to every kernel.
AttentionKernel kernel_of(const Model& model, const Kernels& kernels) {
  if (model.masks_keys()) return kernels.has_tokamax_splash ? AttentionKernel::flash : AttentionKernel::dot_product;
  const bool knows = !model.attention_sink || kernels.sink_kernels.has(kernels.attention);
  return knows ? kernels.attention : AttentionKernel::dot_product;
}

/// MaxText has the mask of an indexer, and attention whose sequence moves, in tokamax's kernel alone, and its own blocks for
/// the gradients of wide heads there are more than XLA's default VMEM holds.
TrainConfig with_tokamax(TrainConfig config, const Settings& settings, const Kernels& kernels, const Model& model) {
  if (!needs_tokamax(config, kernels, model)) return config;
  config.use_tokamax_splash = true;
  if (!settings.says(&TrainConfig::sa_block_q_dkv) && needs_narrow_tiles(config, kernels, model))
    config.sa_block_q_dkv = narrow_tile;
  return config;
}

}  // namespace

bool needs_tokamax(const TrainConfig& config, const Kernels& kernels, const Model& model) {
  const bool masked = model.masks_keys() && config.attention == AttentionKernel::flash;
  return kernels.has_tokamax_splash && (masked || config.context_parallel_strategy != ContextStrategy::all_gather);
}

PartialGradients partial_query_gradients(const TrainConfig& config, std::int64_t keys) {
  constexpr std::int64_t reduced = 3, longest_in_own_type = 4;
  if (!config.fuses_attention_gradients()) return {};
  const std::int64_t blocks = divided_up(keys, std::min(config.sa_block_kv_dkv, keys));
  if (!config.runs_tokamax_splash()) return {blocks, false};
  const bool mask_is_data = config.context_parallel_strategy == ContextStrategy::ulysses;
  if (mask_is_data || (config.dq_reduction_steps == reduced && blocks > reduced)) return {reduced, false};
  return {blocks, blocks > longest_in_own_type};
}

bool needs_narrow_tiles(const TrainConfig& config, const Kernels& kernels, const Model& model) {
  const std::int64_t wide_head = kernels.narrow_tiles_from_head_dim;
  return needs_tokamax(config, kernels, model) && wide_head > 0 && model.masks_keys() && model.head_dim >= wide_head;
}

TrainConfig with_kernels(const Settings& settings, const Kernels& kernels, const Model& model) {
  TrainConfig config = settings.config;
  if (!settings.says(&TrainConfig::megablox)) config.megablox = kernels.runs_megablox();
  return with_attention_kernel(std::move(config), settings, kernels, model);
}

TrainConfig with_attention_kernel(TrainConfig config, const Settings& settings, const Kernels& kernels, const Model& model) {
  if (!settings.says(&TrainConfig::attention)) config.attention = kernel_of(model, kernels);
  config = with_tokamax(std::move(config), settings, kernels, model);
  return with_packed_segments(std::move(config), settings, kernels);
}

TrainConfig with_packed_segments(TrainConfig config, const Settings& settings, const Kernels& kernels) {
  const bool counts = config.attention == AttentionKernel::cudnn_flash_te && config.packing;
  if (counts && !settings.says(&TrainConfig::max_segments_per_seq)) config.max_segments_per_seq = kernels.packed_segments;
  return config;
}

}  // namespace shardplan
