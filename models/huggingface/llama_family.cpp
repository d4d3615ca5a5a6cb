// LLaMA and the decoders that are built like it: Mistral, Mixtral, Phi-3.
#include <fmt/format.h>

#include <models/decoder_block.hpp>
#include <models/huggingface/config_keys.hpp>
#include <models/huggingface/families.hpp>

namespace shardplan::huggingface {

Model llama(StrictObject& config) {
  require_off(config, "attention_bias");
  require_off(config, "mlp_bias");
  return silu_decoder(config, DecoderBlockKind::llama2);
}

/// MaxText's mistral and mixtral blocks attend globally whatever the checkpoint was trained with: their sliding_window is
/// left out.
Model mistral(StrictObject& config) {
  return silu_decoder(config, DecoderBlockKind::mistral);
}

Model mixtral(StrictObject& config) {
  Model model = silu_decoder(config, DecoderBlockKind::mixtral);
  model.num_experts = config.integer("num_local_experts");
  model.top_k = config.integer("num_experts_per_tok");
  model.moe_mlp = model.mlp;
  return model;
}

/// Phi-3 joins query, key and value into one stored weight, gate and up projection into another: the same products as
/// llama's. Windows are left out, as in MaxText's llama2 block.
Model phi3(StrictObject& config) {
  require_off(config, "attention_bias");
  return silu_decoder(config, DecoderBlockKind::llama2);
}

}  // namespace shardplan::huggingface
