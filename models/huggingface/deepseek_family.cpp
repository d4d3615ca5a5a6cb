// DeepSeek 2 to 4; Kimi K2 is a DeepSeek 3.
#include <fmt/format.h>

#include <models/decoder_block.hpp>
#include <models/huggingface/config_keys.hpp>
#include <models/huggingface/families.hpp>

namespace shardplan::huggingface {

namespace {

void add_experts(Model& model, StrictObject& config) {
  model.moe_mlp = config.integer_at_least("moe_intermediate_size", 1);
  model.num_experts = config.integer_at_least("n_routed_experts", 1);
  model.top_k = config.integer_at_least("num_experts_per_tok", 1);
  model.shared_experts = given_integer_or(config, "n_shared_experts", 0);
  const std::int64_t groups = given_integer_or(config, "n_group", 1);
  if (groups > 0 && model.num_experts % groups != 0)
    config.fail("n_group", fmt::format("a divisor of n_routed_experts={}", model.num_experts));
  if (given_integer_or(config, "topk_group", 1) > groups)
    config.fail("topk_group", fmt::format("no more than n_group={}", groups));
}

void add_indexer(Model& model, StrictObject& config) {
  model.indexer_n_heads = config.integer_at_least("index_n_heads", 1);
  model.indexer_head_dim = config.integer_at_least("index_head_dim", 1);
  model.indexer_topk = config.integer_at_least("index_topk", 1);
}

}  // namespace

Model deepseek(StrictObject& config) {
  require_off(config, "attention_bias");
  require_value(config, "moe_layer_freq", 1);
  Model model = decoder(config, DecoderBlockKind::deepseek);
  model.mlp_activations = gated_activations(config, "hidden_act");
  model.attention_type = AttentionType::mla;
  model.q_lora_rank = given_integer_or(config, "q_lora_rank", 0);
  model.kv_lora_rank = config.integer_at_least("kv_lora_rank", 1);
  model.qk_nope_head_dim = config.integer_at_least("qk_nope_head_dim", 1);
  model.qk_rope_head_dim = config.integer_at_least("qk_rope_head_dim", 1);
  model.v_head_dim = config.integer_at_least("v_head_dim", 1);
  add_experts(model, config);
  model.first_dense_layers = config.integer("first_k_dense_replace");
  if (model.first_dense_layers == 0 && model.mlp != model.moe_mlp)
    config.fail("first_k_dense_replace", "at least 1, or intermediate_size the same as moe_intermediate_size: without a "
                                         "dense layer MaxText takes it for the experts' width");
  return model;
}

Model deepseek3(StrictObject& config) {
  Model model = deepseek(config);
  model.routed_bias = true;  // e_score_correction_bias
  return model;
}

Model deepseek32(StrictObject& config) {
  Model model = deepseek3(config);
  model.use_indexer = true;
  add_indexer(model, config);
  return model;
}

/// Compressed attention in every layer (compress_ratios), streams of the hidden state beside each other, experts everywhere.
Model deepseek4(StrictObject& config) {
  require_off(config, "attention_bias");
  require_value(config, "qk_rope_head_dim", 64);
  Model model = silu_decoder(config, DecoderBlockKind::deepseek4, "moe_intermediate_size");
  model.attention_type = AttentionType::compressed;
  model.routed_bias = true;
  model.q_lora_rank = config.integer_at_least("q_lora_rank", 1);
  model.o_groups = config.integer_at_least("o_groups", 1);
  model.o_lora_rank = config.integer_at_least("o_lora_rank", 1);
  model.compress_ratios = config.integers("compress_ratios");
  model.attention_pattern = {config.integer_at_least("sliding_window", 1), 0};
  add_indexer(model, config);
  model.mhc_expansion_rate = config.integer_at_least("hc_mult", 1);
  model.hash_layers = config.integer("num_hash_layers");
  add_experts(model, config);
  return model;
}

}  // namespace shardplan::huggingface
