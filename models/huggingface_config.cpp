#include <fmt/format.h>

#include <formats/strict_json.hpp>
#include <map>
#include <models/decoder_block.hpp>
#include <models/huggingface_config.hpp>
#include <models/huggingface_notes.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

/// Absent and null mean the same in these files.
bool given(StrictObject& config, const std::string& key) { return config.has(key) && !config.any(key).is_null(); }

std::int64_t given_integer_or(StrictObject& config, const std::string& key, std::int64_t otherwise) {
  return given(config, key) ? config.integer(key) : otherwise;
}

bool given_flag_or(StrictObject& config, const std::string& key, bool otherwise) {
  return given(config, key) ? config.flag(key) : otherwise;
}

/// A setting that MaxText's block for this architecture has no counterpart of must be off.
void require_off(StrictObject& config, const std::string& key) {
  if (given_flag_or(config, key, false)) config.fail(key, "false: MaxText has no such layer for this architecture");
}

/// A switch that is off, and what it would switch on.
void require_off(StrictObject& config, const std::string& key, const std::string& what) {
  require_off(config, key);
  given(config, what);
}

/// A setting that MaxText's block always has.
void require_on(StrictObject& config, const std::string& key) {
  if (!given_flag_or(config, key, true)) config.fail(key, "true: MaxText has no layer without it for this architecture");
}

void require_value(StrictObject& config, const std::string& key, std::int64_t value) {
  if (given_integer_or(config, key, value) != value)
    config.fail(key, fmt::format("{}: MaxText has no other layer for this architecture", value));
}

/// The feed-forward is gated in all of these architectures: activation(x·wi_0) * (x·wi_1).
std::vector<std::string> gated_activations(StrictObject& config, const std::string& key) {
  static const std::map<std::string, std::string> names = {
      {"silu", "silu"}, {"gelu", "gelu"}, {"gelu_pytorch_tanh", "gelu"}};
  const auto found = names.find(config.text(key));
  if (found == names.end()) config.fail(key, "silu, gelu or gelu_pytorch_tanh");
  return {found->second, "linear"};
}

/// What every decoder has; each architecture adds its own below.
Model decoder(StrictObject& config, DecoderBlockKind kind) {
  Model model;
  model.decoder_block = decoder_block(kind);
  model.layers = config.integer("num_hidden_layers");
  model.emb = config.integer("hidden_size");
  model.q_heads = config.integer("num_attention_heads");
  model.kv_heads = given_integer_or(config, "num_key_value_heads", model.q_heads);
  model.mlp = config.integer("intermediate_size");
  model.vocab = config.integer("vocab_size");
  model.tied_embedding = given_flag_or(config, "tie_word_embeddings", false);
  return model;
}

/// Llama's descendants leave head_dim out where the heads divide the hidden size.
std::int64_t derived_head_dim(StrictObject& config, const Model& model) {
  if (given(config, "head_dim")) return config.integer("head_dim");
  if (model.q_heads < 1 || model.emb % model.q_heads != 0)
    config.fail("hidden_size", "a multiple of num_attention_heads, or head_dim must be given");
  return model.emb / model.q_heads;
}

Model silu_decoder(StrictObject& config, DecoderBlockKind kind) {
  Model model = decoder(config, kind);
  model.mlp_activations = gated_activations(config, "hidden_act");
  model.head_dim = derived_head_dim(config, model);
  return model;
}

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

Model deepseek(StrictObject& config) {
  require_off(config, "attention_bias");
  require_value(config, "moe_layer_freq", 1);
  Model model = decoder(config, DecoderBlockKind::deepseek);
  model.mlp_activations = gated_activations(config, "hidden_act");
  model.attention_type = AttentionType::mla;
  model.q_lora_rank = given_integer_or(config, "q_lora_rank", 0);
  model.kv_lora_rank = config.integer("kv_lora_rank");
  model.qk_nope_head_dim = config.integer("qk_nope_head_dim");
  model.qk_rope_head_dim = config.integer("qk_rope_head_dim");
  model.v_head_dim = config.integer("v_head_dim");
  model.moe_mlp = config.integer("moe_intermediate_size");
  model.num_experts = config.integer("n_routed_experts");
  model.top_k = config.integer("num_experts_per_tok");
  model.shared_experts = given_integer_or(config, "n_shared_experts", 0);
  model.first_dense_layers = config.integer("first_k_dense_replace");
  return model;
}

Model deepseek3(StrictObject& config) {
  Model model = deepseek(config);
  model.routed_bias = true;  // e_score_correction_bias
  return model;
}

/// Where the file lists its layers' kinds, they must be the ones that MaxText's block would build.
void check_layer_types(StrictObject& config, int locals_per_period) {
  if (!given(config, "layer_types")) return;
  const auto types = config.texts("layer_types");
  const std::size_t period = static_cast<std::size_t>(locals_per_period) + 1;
  for (std::size_t i = 0; i < types.size(); ++i)
    if (types[i] != ((i + 1) % period == 0 ? "full_attention" : "sliding_attention"))
      config.fail("layer_types", fmt::format("{} sliding_attention to 1 full_attention, in turn", locals_per_period));
}

Model with_windows(Model model, StrictObject& config, int locals_per_period) {
  check_layer_types(config, locals_per_period);
  model.attention_pattern = {config.integer("sliding_window"), locals_per_period};
  return model;
}

Model gpt_oss(StrictObject& config) {
  require_on(config, "attention_bias");
  Model model = with_windows(decoder(config, DecoderBlockKind::gpt_oss), config, 1);
  model.mlp_activations = {"sigmoid", "linear"};  // the clamped gate, which the file calls silu
  given(config, "hidden_act");
  model.head_dim = config.integer("head_dim");
  model.num_experts = config.integer("num_local_experts");
  model.top_k = config.integer("num_experts_per_tok");
  model.moe_mlp = model.mlp;
  model.cycle_interval = 2;
  model.attention_bias = model.mlp_bias = model.attention_sink = model.routed_bias = true;
  return model;
}

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

Model gemma(StrictObject& config) { return gemma_decoder(config, DecoderBlockKind::gemma); }

/// MaxText joins a local and a global layer into one (models/gemma2.py).
Model gemma2(StrictObject& config) {
  Model model = with_windows(gemma_decoder(config, DecoderBlockKind::gemma2), config, 1);
  if (model.layers % 2 != 0) config.fail("num_hidden_layers", "even: MaxText pairs a local with a global layer");
  model.layers /= 2;
  model.sublayers_per_layer = 2;
  model.use_post_attn_norm = model.use_post_ffw_norm = true;
  return model;
}

Model gemma3(StrictObject& config) {
  require_value(config, "sliding_window_pattern", 6);
  Model model = with_windows(gemma_decoder(config, DecoderBlockKind::gemma3), config, 5);
  model.use_post_attn_norm = model.use_post_ffw_norm = model.use_qk_norm = true;
  return model;
}

using Reader = Model (*)(StrictObject&);

const std::map<std::string, Reader>& readers() {
  static const std::map<std::string, Reader> table = {
      {"LlamaForCausalLM", llama},         {"MistralForCausalLM", mistral},      {"MixtralForCausalLM", mixtral},
      {"Qwen2ForCausalLM", qwen2},         {"Qwen3ForCausalLM", qwen3},          {"Qwen3MoeForCausalLM", qwen3_moe},
      {"DeepseekV2ForCausalLM", deepseek}, {"DeepseekV3ForCausalLM", deepseek3}, {"GptOssForCausalLM", gpt_oss},
      {"GemmaForCausalLM", gemma},         {"Gemma2ForCausalLM", gemma2},        {"Gemma3ForCausalLM", gemma3},
  };
  return table;
}

Reader find_reader(const std::string& architecture, const std::string& place) {
  const auto found = readers().find(architecture);
  if (found != readers().end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [name, reader] : readers()) known.push_back(name);
  throw InputError(place + ": " + unknown_name("architecture", architecture, known));
}

}  // namespace

bool is_huggingface_config(const nlohmann::json& json) { return json.is_object() && json.contains("architectures"); }

Model read_huggingface_config(const nlohmann::json& json, const std::string& place) {
  StrictObject config(json, place);
  const auto architectures = config.texts("architectures");
  if (architectures.size() != 1) config.fail("architectures", "a list of one");
  Model model = find_reader(architectures.front(), place)(config);
  return with_notes(std::move(model), config);
}

}  // namespace shardplan
