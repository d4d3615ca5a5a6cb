// Models whose training is open as well as their weights: OLMo 2 and 3, gpt-oss.
#include <fmt/format.h>

#include <models/decoder_block.hpp>
#include <models/huggingface/config_keys.hpp>
#include <models/huggingface/families.hpp>
#include <shardplan/step_size.hpp>

namespace shardplan::huggingface {

namespace {

/// Norms behind the branches, and over all heads of queries and keys.
Model olmo_decoder(StrictObject& config) {
  require_off(config, "attention_bias");
  Model model = silu_decoder(config, DecoderBlockKind::olmo3);
  model.use_pre_norm = false;
  model.use_post_attn_norm = model.use_post_ffw_norm = model.use_qk_norm = model.qk_norm_over_all_heads = true;
  model.cycle_interval = 4;
  if (model.layers % 4 != 0) config.fail("num_hidden_layers", "a multiple of 4: MaxText's olmo3 block repeats after 4");
  return model;
}

}  // namespace

/// OLMo 2 is OLMo 3 without windows. MaxText has the block of OLMo 3 only: windows as long as any sequence are the same
/// attention.
Model olmo2(StrictObject& config) {
  Model model = olmo_decoder(config);
  model.attention_pattern = {most_tokens_a_device, 3};
  return model;
}

Model olmo3(StrictObject& config) { return with_windows(olmo_decoder(config), config, 3); }

Model gpt_oss(StrictObject& config) {
  require_on(config, "attention_bias");
  Model model = with_windows(decoder(config, DecoderBlockKind::gpt_oss), config, 1);
  model.mlp_activations = {"sigmoid", "linear"};  // the clamped gate, which the file calls silu
  pass_over(config, "hidden_act");
  model.head_dim = config.integer_at_least("head_dim", 1);
  model.num_experts = config.integer_at_least("num_local_experts", 1);
  model.top_k = config.integer_at_least("num_experts_per_tok", 1);
  model.moe_mlp = model.mlp;
  model.cycle_interval = 2;
  model.attention_bias = model.mlp_bias = model.attention_sink = model.routed_bias = true;
  return model;
}

}  // namespace shardplan::huggingface
