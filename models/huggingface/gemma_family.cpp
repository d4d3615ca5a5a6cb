// Gemma 1 to 3.
#include <fmt/format.h>

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
  model.mlp_activations =
      gated_activations(config, given(config, "hidden_activation") ? "hidden_activation" : "hidden_act");
  given(config, "hidden_act");  // where both are there, hidden_activation holds
  model.head_dim = config.integer("head_dim");
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
  model.caps_logits = true;  // where the file says nothing (final_logit_softcapping, Gemma2Config)
  model.use_post_attn_norm = model.use_post_ffw_norm = true;
  return model;
}

Model gemma3(StrictObject& config) {
  require_value(config, "sliding_window_pattern", 6);
  Model model = with_windows(gemma_decoder(config, DecoderBlockKind::gemma3), config, 5);
  model.use_post_attn_norm = model.use_post_ffw_norm = model.use_qk_norm = true;
  return model;
}

}  // namespace shardplan::huggingface
