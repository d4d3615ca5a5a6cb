#include <fmt/format.h>

#include <map>
#include <models/decoder_block.hpp>
#include <models/huggingface/config_keys.hpp>

namespace shardplan::huggingface {

bool given(StrictObject& config, const std::string& key) { return config.asks_for(key) && !config.any(key).is_null(); }

void pass_over(StrictObject& config, const std::string& key) {
  if (config.has(key)) config.any(key);
}

std::int64_t given_integer_or(StrictObject& config, const std::string& key, std::int64_t otherwise) {
  return given(config, key) ? config.integer(key) : otherwise;
}

bool given_flag_or(StrictObject& config, const std::string& key, bool otherwise) {
  return given(config, key) ? config.flag(key) : otherwise;
}

void require_off(StrictObject& config, const std::string& key) {
  if (given_flag_or(config, key, false)) config.fail(key, "false: MaxText has no such layer for this architecture");
}

void require_off(StrictObject& config, const std::string& key, const std::string& what) {
  require_off(config, key);
  pass_over(config, what);
}

void require_on(StrictObject& config, const std::string& key) {
  if (!given_flag_or(config, key, true)) config.fail(key, "true: MaxText has no layer without it for this architecture");
}

void require_value(StrictObject& config, const std::string& key, std::int64_t value) {
  if (given_integer_or(config, key, value) != value)
    config.fail(key, fmt::format("{}: MaxText has no other layer for this architecture", value));
}

std::vector<std::string> gated_activations(StrictObject& config, const std::string& key) {
  static const std::map<std::string, std::string> names = {
      {"silu", "silu"}, {"gelu", "gelu"}, {"gelu_pytorch_tanh", "gelu"}};
  const auto found = names.find(config.text(key));
  if (found == names.end()) config.fail(key, "silu, gelu or gelu_pytorch_tanh");
  return {found->second, "linear"};
}

Model decoder(StrictObject& config, DecoderBlockKind kind, const std::string& width) {
  Model model;
  model.decoder_block = decoder_block(kind);
  model.layers = config.integer_at_least("num_hidden_layers", 1);
  model.emb = config.integer_at_least("hidden_size", 1);
  model.q_heads = config.integer_at_least("num_attention_heads", 1);
  model.kv_heads = given_integer_or(config, "num_key_value_heads", model.q_heads);
  if (model.kv_heads < 1 || model.q_heads % model.kv_heads != 0)
    config.fail("num_key_value_heads", fmt::format("a divisor of num_attention_heads={}", model.q_heads));
  model.mlp = config.integer_at_least(width, 1);
  model.vocab = config.integer_at_least("vocab_size", 1);
  model.tied_embedding = given_flag_or(config, "tie_word_embeddings", false);
  return model;
}

namespace {

/// Llama's descendants leave head_dim out where the heads divide the hidden size.
std::int64_t head_dim_or_derived(StrictObject& config, const Model& model) {
  if (given(config, "head_dim")) return config.integer_at_least("head_dim", 1);
  if (model.q_heads < 1 || model.emb % model.q_heads != 0)
    config.fail("hidden_size", "a multiple of num_attention_heads, or head_dim must be given");
  return model.emb / model.q_heads;
}

}  // namespace

Model silu_decoder(StrictObject& config, DecoderBlockKind kind, const std::string& width) {
  Model model = decoder(config, kind, width);
  model.mlp_activations = gated_activations(config, "hidden_act");
  model.head_dim = head_dim_or_derived(config, model);
  return model;
}

void require_head_dim(StrictObject& config) {
  if (!given(config, "head_dim"))
    config.fail("head_dim", "given: without it transformers takes a number of its own, whatever hidden_size and "
                            "num_attention_heads are");
}

void check_layer_types(StrictObject& config, int others_per_period, const std::string& other) {
  if (!given(config, "layer_types")) return;
  const auto types = config.texts("layer_types");
  const std::size_t period = static_cast<std::size_t>(others_per_period) + 1;
  for (std::size_t i = 0; i < types.size(); ++i)
    if (types[i] != ((i + 1) % period == 0 ? "full_attention" : other))
      config.fail("layer_types", fmt::format("{} {} to 1 full_attention, in turn", others_per_period, other));
  if (static_cast<std::int64_t>(types.size()) != config.integer_at_least("num_hidden_layers", 1))
    config.fail("layer_types", "as many as num_hidden_layers");
}

Model with_windows(Model model, StrictObject& config, int locals_per_period) {
  check_layer_types(config, locals_per_period, "sliding_attention");
  model.attention_pattern = {config.integer_at_least("sliding_window", 1), locals_per_period};
  return model;
}

}  // namespace shardplan::huggingface
