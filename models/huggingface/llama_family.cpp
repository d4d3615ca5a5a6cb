// LLaMA, to 4, and the decoders that are built like it: Mistral, Mixtral, Phi-3, InternLM 2, ERNIE 4.5.
#include <fmt/format.h>

#include <models/decoder_block.hpp>
#include <models/huggingface/config_keys.hpp>
#include <models/huggingface/families.hpp>
#include <models/huggingface/positions.hpp>
#include <utility>

namespace shardplan::huggingface {

namespace {

/// What a file lists layer by layer, where it does, has to be what MaxText's block builds.
/// `value(i)` at place i of `size`: no list of them, because nothing has bounded the layers yet.
template <class Value>
void require_list(StrictObject& config, const std::string& key, std::int64_t size, Value value, const std::string& what) {
  if (!given(config, key)) return;
  const std::vector<std::int64_t> list = config.integers(key);
  bool same = std::cmp_equal(list.size(), size);
  for (std::size_t i = 0; same && i < list.size(); ++i) same = list[i] == value(static_cast<std::int64_t>(i));
  if (!same) config.fail(key, what + ": MaxText has no other order");
}

}  // namespace

Model llama(StrictObject& config) {
  require_off(config, "attention_bias");
  require_off(config, "mlp_bias");
  return with_llama3_positions(silu_decoder(config, DecoderBlockKind::llama2), config);
}

/// MaxText's mistral and mixtral blocks attend globally whatever the checkpoint was trained with: their sliding_window is
/// left out.
Model mistral(StrictObject& config) {
  return silu_decoder(config, DecoderBlockKind::mistral);
}

Model mixtral(StrictObject& config) {
  Model model = silu_decoder(config, DecoderBlockKind::mixtral);
  model.num_experts = config.integer_at_least("num_local_experts", 1);
  model.top_k = config.integer_at_least("num_experts_per_tok", 1);
  model.moe_mlp = model.mlp;
  return model;
}

/// Phi-3 joins query, key and value into one stored weight, gate and up projection into another: the same products as
/// llama's. Windows are left out, as in MaxText's llama2 block.
Model phi3(StrictObject& config) {
  require_off(config, "attention_bias");
  return silu_decoder(config, DecoderBlockKind::llama2);
}

/// One stored weight for query, key and value.
Model internlm2(StrictObject& config) {
  require_off(config, "bias");
  return silu_decoder(config, DecoderBlockKind::llama2);
}

/// Its dense models; those with experts are another architecture.
Model ernie4_5(StrictObject& config) {
  require_off(config, "use_bias");
  Model model = silu_decoder(config, DecoderBlockKind::llama2);
  model.tied_embedding = given_flag_or(config, "tie_word_embeddings", true);
  return model;
}

/// Three layers in chunks to one that sees all; where layers without experts are among them, their width has a key of its
/// own.
Model llama4(StrictObject& config) {
  require_off(config, "attention_bias");
  require_value(config, "no_rope_layer_interval", 4);
  Model model = silu_decoder(config, DecoderBlockKind::llama4);
  model.moe_mlp = model.mlp;
  model.num_experts = config.integer_at_least("num_local_experts", 1);
  model.top_k = config.integer_at_least("num_experts_per_tok", 1);
  model.shared_experts = 1;
  model.interleave_moe_step = static_cast<int>(config.integer_at_least("interleave_moe_layer_step", 1));
  const std::int64_t dense = given_integer_or(config, "intermediate_size_mlp", model.mlp);
  if (model.interleave_moe_step > 1) model.mlp = dense;
  const std::int64_t step = model.interleave_moe_step;
  const auto with_experts = [&](std::int64_t i) { return (i + 1) * step - 1; };
  const auto rotated = [](std::int64_t layer) { return std::int64_t{(layer + 1) % 4 != 0}; };
  require_list(config, "moe_layers", model.layers / step, with_experts, fmt::format("each {} layers the last", step));
  const bool usual = given(config, "no_rope_layers") && config.integers("no_rope_layers").empty();  // as its class takes it
  if (!usual) require_list(config, "no_rope_layers", model.layers, rotated, "three of four layers, 1, 1, 1, 0");
  model.use_qk_norm = given_flag_or(config, "use_qk_norm", true);
  model.cycle_interval = 4;
  model.attention_pattern = {config.integer_at_least("attention_chunk_size", 1), 3};
  return with_llama4_positions(std::move(model), config);
}

}  // namespace shardplan::huggingface
