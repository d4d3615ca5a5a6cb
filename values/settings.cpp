#include <shardplan/settings.hpp>

namespace shardplan {

namespace {

/// What MaxText takes of a model: sinks and the mask of an indexer or of pooled keys are not known to every kernel.
AttentionKernel kernel_of(const Model& model, const Kernels& kernels) {
  if (model.masks_keys()) return kernels.has_tokamax_splash ? AttentionKernel::flash : AttentionKernel::dot_product;
  const bool knows = !model.attention_sink || kernels.sink_kernels.has(kernels.attention);
  return knows ? kernels.attention : AttentionKernel::dot_product;
}

}  // namespace

TrainConfig with_kernels(const Settings& settings, const Kernels& kernels, const Model& model) {
  TrainConfig config = settings.config;
  if (!settings.says(&TrainConfig::attention)) config.attention = kernel_of(model, kernels);
  if (!settings.says(&TrainConfig::megablox)) config.megablox = kernels.grouped_matmul == GroupedMatmul::megablox;
  return with_packed_segments(std::move(config), settings, kernels);
}

TrainConfig with_packed_segments(TrainConfig config, const Settings& settings, const Kernels& kernels) {
  const bool counts = config.attention == AttentionKernel::cudnn_flash_te && config.packing;
  if (counts && !settings.says(&TrainConfig::max_segments_per_seq)) config.max_segments_per_seq = kernels.packed_segments;
  return config;
}

}  // namespace shardplan
