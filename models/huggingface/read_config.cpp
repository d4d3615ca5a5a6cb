#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <models/huggingface/config_keys.hpp>
#include <models/huggingface/families.hpp>
#include <models/huggingface/notes.hpp>
#include <models/huggingface/read_config.hpp>
#include <shardplan/error.hpp>
#include <span>

namespace shardplan {
namespace {

using namespace huggingface;

struct Architecture {
  const char* name;
  Model (*read)(StrictObject& config);
  /// Of a model with more than a text decoder: what its text_config may leave out (the defaults of transformers' class).
  const char* text_defaults = nullptr;
  double rope_theta = 0;  ///< the class's default in transformers (default_theta of its configuration); 0: not looked up
  /// Where the file leaves num_key_value_heads out; other classes have a number of their own.
  bool keys_of_each_head = false;
};

constexpr const char* gemma3_text = R"({"num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256,
  "hidden_activation": "gelu_pytorch_tanh", "vocab_size": 262208})";

constexpr Architecture architectures[] = {
    {"LlamaForCausalLM", llama, nullptr, 10'000, true},
    {"Llama4ForCausalLM", llama4},
    {"Llama4ForConditionalGeneration", llama4, "{}"},
    {"MistralForCausalLM", mistral, nullptr, 10'000},
    {"Mistral3ForConditionalGeneration", mistral, "{}"},
    {"MixtralForCausalLM", mixtral, nullptr, 1'000'000},
    {"Phi3ForCausalLM", phi3, nullptr, 0, true},
    {"InternLM2ForCausalLM", internlm2, nullptr, 0, true},
    {"Ernie4_5ForCausalLM", ernie4_5},
    {"SeedOssForCausalLM", seed_oss},
    {"Qwen2ForCausalLM", qwen2},
    {"Qwen2VLForConditionalGeneration", qwen2, "{}"},
    {"Qwen2_5_VLForConditionalGeneration", qwen2, "{}"},
    {"Qwen3ForCausalLM", qwen3, nullptr, 10'000},
    {"Qwen3MoeForCausalLM", qwen3_moe},
    {"Qwen3NextForCausalLM", qwen3_next},
    {"Qwen3_5MoeForConditionalGeneration", qwen3_5_moe, "{}"},
    {"Qwen3VLForConditionalGeneration", qwen3, "{}"},
    {"Qwen3VLMoeForConditionalGeneration", qwen3_vl_moe, "{}"},
    {"DeepseekV2ForCausalLM", deepseek, nullptr, 0, true},
    {"DeepseekV3ForCausalLM", deepseek3, nullptr, 10'000, true},
    {"DeepseekV32ForCausalLM", deepseek32, nullptr, 0, true},
    {"DeepseekV4ForCausalLM", deepseek4},
    {"KimiK25ForConditionalGeneration", deepseek3, "{}", 0, true},
    {"GptOssForCausalLM", gpt_oss, nullptr, 150'000},
    {"GemmaForCausalLM", gemma},
    {"Gemma2ForCausalLM", gemma2},
    {"Gemma3ForCausalLM", gemma3},
    {"Gemma3ForConditionalGeneration", gemma3, gemma3_text},
    {"Gemma4ForCausalLM", gemma4},
    {"Gemma4ForConditionalGeneration", gemma4, "{}"},
    {"Olmo2ForCausalLM", olmo2, nullptr, 0, true},
    {"Olmo3ForCausalLM", olmo3, nullptr, 0, true},
};

struct Refused {
  const char* name;
  const char* reason;
};

/// Known, and not what any of MaxText's decoder blocks builds.
constexpr Refused refused[] = {
    {"Glm4MoeForCausalLM",
     "DeepSeek's experts behind grouped-query attention: MaxText has no such decoder block"},
    {"Qwen2MoeForCausalLM",
     "a gate on its shared expert in every layer, behind attention biases: MaxText has no such decoder block"},
    {"OlmoForCausalLM", "norms without a scale before its branches: MaxText has no such decoder block"},
    {"OlmoeForCausalLM", "norms over all heads of queries and keys before experts: MaxText has no such decoder block"},
    {"SmolLM3ForCausalLM", "layers that don't rotate among Llama's: MaxText has no such decoder block"},
    {"MllamaForConditionalGeneration", "layers that attend to images: MaxText has no such decoder block"},
    {"Gemma3nForConditionalGeneration", "several versions of the hidden state, which predict each other: MaxText has no "
                                        "such decoder block"}};

/// "Falcon" of FalconForCausalLM: by their whole names all are near that end alike.
std::string family_of(std::string_view architecture) {
  for (const char* ending : {"For", "LMHeadModel", "Model"})
    if (const auto end = architecture.find(ending); end != architecture.npos)
      return std::string(architecture.substr(0, end));
  return std::string(architecture);
}

/// Those of the families whose name is nearest.
std::vector<std::string> nearest_architectures(const std::string& name) {
  std::vector<std::string> families, nearest;
  for (const auto& row : architectures) families.push_back(family_of(row.name));
  for (const std::string& family : nearest_names(family_of(name), families))
    for (const auto& row : architectures)
      if (family_of(row.name) == family) nearest.emplace_back(row.name);
  return nearest;
}

const Architecture& find_architecture(const std::string& name, const std::string& place) {
  const auto is_it = [&](const auto& row) { return row.name == name; };
  const auto found = std::find_if(std::begin(architectures), std::end(architectures), is_it);
  if (found != std::end(architectures)) return *found;
  const auto no = std::find_if(std::begin(refused), std::end(refused), is_it);
  if (no != std::end(refused)) throw InputError(fmt::format("{}: architecture {} has {}", place, name, no->reason));
  std::vector<std::string> known;
  for (const auto& row : architectures) known.emplace_back(row.name);
  const auto nearest = nearest_architectures(name);
  throw InputError(fmt::format("{}: unknown architecture '{}'; {}: {}; of layers that MaxText has `shardplan models init "
                               "NAME --like MODEL` begins a file",
                               place, name, nearest.empty() ? "known" : "nearest",
                               fmt::join(nearest.empty() ? known : nearest, ", ")));
}

/// What MaxText's nearest model has may be another: llama3-8b turns positions by 500,000, Llama 2's class by 10,000.
Model with_rope_theta(Model model, const Architecture& architecture) {
  const std::string key = "rope_max_timescale";
  if (std::any_of(model.inner_values.begin(), model.inner_values.end(), [&](const auto& pair) { return pair.first == key; }))
    return model;
  if (architecture.rope_theta > 0)
    model.inner_values.emplace_back(key, fmt::format("{:.0f}", architecture.rope_theta));
  else
    model.left_out.push_back({"rope_theta", "not given: MaxText's model's own holds, unless rope_max_timescale=… says it"});
  return model;
}

/// As transformers' class reads it: null is as many as there are heads, in each of them.
Model read_decoder(const Architecture& architecture, StrictObject& config) {
  const std::string key = "num_key_value_heads";
  if (!architecture.keys_of_each_head && !config.has(key))
    config.fail(key, fmt::format("given: without it transformers takes a number of its own for {}, whatever "
                                 "num_attention_heads is", architecture.name));
  return with_notes(architecture.read(config), config);
}

/// The text decoder of a model that has towers besides.
Model read_text_decoder(const Architecture& architecture, StrictObject& config) {
  nlohmann::json text = nlohmann::json::parse(architecture.text_defaults);
  const auto& own = config.any("text_config");
  if (!own.is_object()) config.fail("text_config", "an object");
  text.update(own);
  const std::string tied = "tie_word_embeddings";
  if (given(config, tied)) text[tied] = config.any(tied);  // what the whole model says holds
  StrictObject inner(text, config.where() + ": text_config");
  return read_decoder(architecture, inner);
}

}  // namespace

bool is_huggingface_config(const nlohmann::json& json) {
  const auto has = [&](const char* key) { return json.contains(key); };
  return json.is_object() && (has("architectures") || has("model_type") || has("hidden_size"));
}

Model read_huggingface_config(const nlohmann::json& json, const std::string& place) {
  StrictObject config(json, place);
  if (!config.has("architectures"))
    config.fail("architectures", "given, as a list of one, like [\"LlamaForCausalLM\"]: it says which layers these are");
  const auto names = config.texts("architectures");
  if (names.size() != 1) config.fail("architectures", "a list of one");
  const Architecture& architecture = find_architecture(names.front(), place);
  const bool nested = architecture.text_defaults && config.has("text_config");
  Model model = nested ? with_notes(read_text_decoder(architecture, config), config) : read_decoder(architecture, config);
  return with_rope_theta(std::move(model), architecture);
}

}  // namespace shardplan
