// Qwen 2, 2.5, 3, 3-Next and 3.5; Seed-OSS is built like a Qwen 2.
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

Model seed_oss(StrictObject& config) {
  require_on(config, "attention_bias");
  require_off(config, "attention_out_bias");
  require_off(config, "mlp_bias");
  require_head_dim(config);
  Model model = silu_decoder(config, DecoderBlockKind::qwen2);
  model.attention_bias = true;
  return model;
}

Model qwen3(StrictObject& config) {
  require_off(config, "use_sliding_window", "sliding_window");
  require_off(config, "attention_bias");
  require_head_dim(config);
  Model model = silu_decoder(config, DecoderBlockKind::qwen3);
  model.use_qk_norm = true;
  return model;
}

namespace {

/// Experts in every layer: intermediate_size is that of mlp_only_layers, and there are none.
Model with_experts(Model model, StrictObject& config, const std::string& experts = "num_experts") {
  require_value(config, "decoder_sparse_step", 1);
  if (given(config, "mlp_only_layers") && !config.array("mlp_only_layers").empty())
    config.fail("mlp_only_layers", "empty: MaxText has experts in every layer");
  model.num_experts = config.integer(experts);
  model.top_k = config.integer_at_least("num_experts_per_tok", 1);
  model.moe_mlp = config.integer_at_least("moe_intermediate_size", 1);
  model.mlp = model.moe_mlp;
  return model;
}

}  // namespace

Model qwen3_moe(StrictObject& config) {
  Model model = with_experts(qwen3(config), config);
  model.decoder_block = decoder_block(DecoderBlockKind::qwen3_moe);
  return model;
}

/// Of Qwen3-VL: what qwen3_moe calls num_experts is num_local_experts here.
Model qwen3_vl_moe(StrictObject& config) {
  Model model = with_experts(qwen3(config), config, "num_local_experts");
  model.decoder_block = decoder_block(DecoderBlockKind::qwen3_moe);
  return model;
}

namespace {

/// Gated delta nets, and at the end of each cycle gated attention.
Model with_delta_nets(StrictObject& config, DecoderBlockKind kind) {
  require_off(config, "attention_bias");
  require_head_dim(config);
  pass_over(config, "intermediate_size");  // of layers without experts, which there are none of
  Model model = with_experts(silu_decoder(config, kind, "moe_intermediate_size"), config);
  const std::int64_t shared = config.integer_at_least("shared_expert_intermediate_size", 1);
  if (shared % model.moe_mlp != 0) config.fail("shared_expert_intermediate_size", "a multiple of moe_intermediate_size");
  model.shared_experts = shared / model.moe_mlp;
  const std::string interval = "full_attention_interval";
  model.cycle_interval = given(config, interval) ? config.count(interval, 1) : 4;
  check_layer_types(config, model.cycle_interval - 1, "linear_attention");
  model.gdn_conv_kernel_dim = config.integer_at_least("linear_conv_kernel_dim", 1);
  model.gdn_key_head_dim = config.integer_at_least("linear_key_head_dim", 1);
  model.gdn_value_head_dim = config.integer_at_least("linear_value_head_dim", 1);
  model.gdn_num_key_heads = config.integer_at_least("linear_num_key_heads", 1);
  model.gdn_num_value_heads = config.integer_at_least("linear_num_value_heads", 1);
  model.gdn_chunk_size = 64;  // of the kernel, not of the file: configs/models/qwen3-next-80b-a3b.yml
  if (given(config, "partial_rotary_factor"))
    model.inner_values.emplace_back("partial_rotary_factor", fmt::format("{}", config.number("partial_rotary_factor")));
  return model;
}

}  // namespace

Model qwen3_next(StrictObject& config) { return with_delta_nets(config, DecoderBlockKind::qwen3_next); }

Model qwen3_5_moe(StrictObject& config) {
  require_on(config, "attn_output_gate");
  return with_delta_nets(config, DecoderBlockKind::qwen3_5);
}

}  // namespace shardplan::huggingface
