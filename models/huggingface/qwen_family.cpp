// Qwen 2, 2.5 and 3.
#include <fmt/format.h>

#include <models/decoder_block.hpp>
#include <models/huggingface/config_keys.hpp>
#include <models/huggingface/families.hpp>

namespace shardplan::huggingface {

Model qwen2(StrictObject& config) {
  require_off(config, "use_sliding_window", "sliding_window");
  Model model = silu_decoder(config, DecoderBlockKind::qwen2);
  model.attention_bias = true;  // always, in this architecture
  return model;
}

Model qwen3(StrictObject& config) {
  require_off(config, "use_sliding_window", "sliding_window");
  require_off(config, "attention_bias");
  Model model = silu_decoder(config, DecoderBlockKind::qwen3);
  model.use_qk_norm = true;
  return model;
}

Model qwen3_moe(StrictObject& config) {
  Model model = qwen3(config);
  model.decoder_block = decoder_block(DecoderBlockKind::qwen3_moe);
  require_value(config, "decoder_sparse_step", 1);
  if (given(config, "mlp_only_layers") && !config.array("mlp_only_layers").empty())
    config.fail("mlp_only_layers", "empty: MaxText has experts in every layer");
  model.num_experts = config.integer("num_experts");
  model.top_k = config.integer("num_experts_per_tok");
  model.moe_mlp = config.integer("moe_intermediate_size");
  model.mlp = model.moe_mlp;  // intermediate_size is that of mlp_only_layers, and there are none
  return model;
}

}  // namespace shardplan::huggingface
