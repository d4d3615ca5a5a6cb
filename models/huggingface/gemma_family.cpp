// Gemma 1 to 4.
#include <fmt/format.h>

#include <algorithm>
#include <models/decoder_block.hpp>
#include <models/huggingface/config_keys.hpp>
#include <models/huggingface/families.hpp>

namespace shardplan::huggingface {

namespace {

/// Gemma's embedding is tied unless the file says otherwise (transformers' GemmaConfig).
Model gemma_decoder(StrictObject& config, DecoderBlockKind kind) {
  require_off(config, "attention_bias");
  Model model = decoder(config, kind);
  model.tied_embedding = given_flag_or(config, "tie_word_embeddings", true);
  model.scales_logits = model.tied_embedding;  // MaxText's normalize_embedding_logits, which its Gemma files leave on
  model.mlp_activations =
      gated_activations(config, given(config, "hidden_activation") ? "hidden_activation" : "hidden_act");
  pass_over(config, "hidden_act");  // where both are there, hidden_activation holds
  model.head_dim = config.integer_at_least("head_dim", 1);
  return model;
}

}  // namespace

Model gemma(StrictObject& config) { return gemma_decoder(config, DecoderBlockKind::gemma); }

/// MaxText joins a local and a global layer into one (models/gemma2.py).
Model gemma2(StrictObject& config) {
  Model model = with_windows(gemma_decoder(config, DecoderBlockKind::gemma2), config, 1);
  if (model.layers % 2 != 0) config.fail("num_hidden_layers", "even: MaxText pairs a local with a global layer");
  model.layers /= 2;
  model.sublayers_per_layer = 2;
  model.caps_logits = model.caps_scores = true;  // where the file says nothing (Gemma2Config)
  model.use_post_attn_norm = model.use_post_ffw_norm = true;
  return model;
}

Model gemma3(StrictObject& config) {
  for (const char* pattern : {"sliding_window_pattern", "_sliding_window_pattern"}) require_value(config, pattern, 6);
  Model model = with_windows(gemma_decoder(config, DecoderBlockKind::gemma3), config, 5);
  model.use_post_attn_norm = model.use_post_ffw_norm = model.use_qk_norm = true;
  return model;
}

namespace {

/// Sliding-window layers before the first that sees all.
int locals_per_period(StrictObject& config) {
  const auto types = config.texts("layer_types");
  const auto global = std::find(types.begin(), types.end(), "full_attention");
  if (global == types.end() || global == types.begin())
    config.fail("layer_types", "a list of sliding_attention, with full_attention from time to time");
  return static_cast<int>(global - types.begin());
}

/// e2b and e4b: inputs of each layer, and last layers that attend to keys and values of others.
void add_small_parts(Model& model, StrictObject& config) {
  model.decoder_block = decoder_block(DecoderBlockKind::gemma4_small);
  model.per_layer_dim = config.integer_at_least("hidden_size_per_layer_input", 1);
  model.per_layer_vocab = config.integer_at_least("vocab_size_per_layer_input", 1);
  model.kv_shared_layers = given_integer_or(config, "num_kv_shared_layers", 0);
  model.use_double_wide_mlp = given_flag_or(config, "use_double_wide_mlp", false);
  model.scan_layers = false;
}

}  // namespace

/// Experts beside a dense feed-forward where enable_moe_block says so: MaxText's shared expert, as wide as that.
Model gemma4(StrictObject& config) {
  const int locals = locals_per_period(config);
  Model model = with_windows(gemma_decoder(config, DecoderBlockKind::gemma4), config, locals);
  model.use_post_attn_norm = model.use_post_ffw_norm = model.use_qk_norm = true;
  model.global_head_dim = config.integer_at_least("global_head_dim", 1);
  model.global_kv_heads = given_integer_or(config, "num_global_key_value_heads", 0);
  model.share_kv_projections = given_flag_or(config, "attention_k_eq_v", false);
  const bool has_experts = given_flag_or(config, "enable_moe_block", false);
  if (has_experts) {
    model.moe_mlp = config.integer_at_least("moe_intermediate_size", 1);
    model.num_experts = config.integer_at_least("num_experts", 1);
    model.top_k = config.integer_at_least("top_k_experts", 1);
    model.shared_experts = 1;
  } else {
    for (const char* unused : {"moe_intermediate_size", "num_experts", "top_k_experts"}) pass_over(config, unused);
  }
  if (given_integer_or(config, "hidden_size_per_layer_input", 0) > 0) add_small_parts(model, config);
  pass_over(config, "vocab_size_per_layer_input");  // of no layer else
  return model;
}

}  // namespace shardplan::huggingface
