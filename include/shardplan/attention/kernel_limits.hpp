#pragma once
// What of a model MaxText doesn't hand to an attention kernel, and doesn't say so: another model is trained.
#include <shardplan/attention/attention_window.hpp>
#include <shardplan/compiler/compiler.hpp>
#include <shardplan/model.hpp>
#include <shardplan/train_config.hpp>

namespace shardplan {

/// Whether the run's kernel leaves out the keys that a layer's window does; else it attends to all before a query. Of
/// packed documents Transformer Engine gets segments and a causal mask, with a window where that slides: no chunks (MaxText
/// layers/attention_op.py, cudnn_flash_attention).
inline bool knows_window(const Kernels& kernels, const TrainConfig& config, WindowShape shape) {
  const bool by_segments = config.attention == AttentionKernel::cudnn_flash_te && config.packing;
  return kernels.window_kernels.has(config.attention) && !(shape == WindowShape::chunked && by_segments);
}

/// Whether some layers of the model leave out keys that the run's kernel attends to.
inline bool ignores_windows(const Model& model, const Kernels& kernels, const TrainConfig& config) {
  const std::int64_t window = model.attention_pattern.window;
  const bool cuts = window > 0 && window < config.max_target_length;
  return cuts && !knows_window(kernels, config, model.decoder_block.window_shape);
}

/// Whether the model caps scores (attn_logits_soft_cap) that the run's kernel doesn't.
inline bool ignores_cap(const Model& model, const Kernels& kernels, const TrainConfig& config) {
  return model.caps_scores && model.decoder_block.caps_scores && !kernels.cap_kernels.has(config.attention);
}

}  // namespace shardplan
