#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <models/huggingface/notes.hpp>
#include <models/huggingface/positions.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace shardplan::huggingface {

namespace {

using Json = nlohmann::json;

constexpr const char* keys[] = {"rope_scaling", "rope_parameters"};

/// Hugging Face's numbers of YaRN under MaxText's names (configs/base.yml).
constexpr std::pair<const char*, const char*> yarn_numbers[] = {
    {"factor", "rope_factor"}, {"original_max_position_embeddings", "original_max_position_embeddings"},
    {"beta_fast", "beta_fast"}, {"beta_slow", "beta_slow"}, {"mscale", "mscale"}};

/// transformers', where the file doesn't say them; the nearest model's would hold.
constexpr std::pair<const char*, const char*> yarn_defaults[] = {{"beta_fast", "32"}, {"beta_slow", "1"}};

/// What MaxText's llama3.1 positions are scaled by; no argument says it (layers/embeddings.py, LLaMARotaryEmbedding,
/// _apply_scaling_factor).
constexpr std::pair<const char*, double> llama3_numbers[] = {
    {"factor", 8}, {"low_freq_factor", 1}, {"high_freq_factor", 4}, {"original_max_position_embeddings", 8192}};

/// The key that says how positions are scaled.
const char* rope_key(StrictObject& config) {
  const auto* found = std::find_if(std::begin(keys), std::end(keys),
                                   [&](const char* key) { return config.has(key) && config.peek(key).is_object(); });
  return found == std::end(keys) ? nullptr : *found;
}

/// Where layers differ, transformers 5 has an object for each kind of them; MaxText scales those of the global ones.
const Json& of_global_layers(const Json& rope) {
  const auto global = rope.find("full_attention");
  return global != rope.end() && global->is_object() ? *global : rope;
}

/// "rope_type", "type" in older files; "default" where nothing is said.
std::string kind_of(const Json& rope) {
  for (const char* key : {"rope_type", "type"})
    if (rope.contains(key) && rope[key].is_string()) return rope[key].get<std::string>();
  return "default";
}

std::optional<double> number_in(const Json& rope, const char* key) {
  if (!rope.contains(key) || !rope[key].is_number()) return std::nullopt;
  return rope[key].get<double>();
}

/// What scales positions says by how much, and a base is a number; of every kind of layers that has its own.
void check_numbers(StrictObject& config) {
  const char* key = rope_key(config);
  if (!key) return;
  const auto check = [&](const Json& rope) {
    const auto is_positive = [&](const char* name) { return number_in(rope, name).value_or(0) > 0; };
    const std::string kind = kind_of(rope);
    if ((kind == "yarn" || kind == "linear") && !is_positive("factor"))
      config.fail(key, fmt::format("with a factor above 0, as {} scales by one", kind));
    if (rope.contains("rope_theta") && !is_positive("rope_theta")) config.fail(key, "with a rope_theta above 0");
  };
  const Json& rope = config.peek(key);
  check(rope);
  for (const char* layers : {"full_attention", "sliding_attention"})
    if (rope.contains(layers) && rope[layers].is_object()) check(rope[layers]);
}

/// "factor 32 (MaxText: 8), low_freq_factor 2 (1)"
std::string unlike_maxtext(const Json& rope) {
  std::vector<std::string> unlike;
  for (const auto& [key, fixed] : llama3_numbers)
    if (const auto said = number_in(rope, key); said && *said != fixed)
      unlike.push_back(fmt::format("{} {} (MaxText: {})", key, argument_text(rope[key]), fixed));
  return fmt::format("{}", fmt::join(unlike, ", "));
}

/// Nothing but the kind and the base, which have words of their own.
bool says_no_more(const Json& rope) {
  return std::all_of(rope.items().begin(), rope.items().end(), [](const auto& item) {
    return item.key() == "rope_type" || item.key() == "type" || item.key() == "rope_theta";
  });
}

double yarn_scale(double factor, double mscale) { return factor <= 1 ? 1 : 0.1 * mscale * std::log(factor) + 1; }

/// What cosines and sines are scaled by besides, as transformers has it (modeling_rope_utils.py, _compute_yarn_parameters).
double attention_factor(const Json& rope, double factor) {
  if (const auto said = number_in(rope, "attention_factor")) return *said;
  const auto mscale = number_in(rope, "mscale"), all = number_in(rope, "mscale_all_dim");
  if (mscale.value_or(0) != 0 && all.value_or(0) != 0) return yarn_scale(factor, *mscale) / yarn_scale(factor, *all);
  return yarn_scale(factor, 1);
}

/// MaxText's embedding scales by YaRN's own factor or not at all (layers/embeddings.py, YarnRotaryEmbedding).
void add_attention_scaling(Model& model, const char* key, const Json& rope) {
  const double factor = number_in(rope, "factor").value_or(1), asked = attention_factor(rope, factor);
  const double own = yarn_scale(factor, 1);
  const bool is_own = std::abs(asked - own) < 1e-3, is_none = std::abs(asked - 1) < 1e-3;
  model.inner_values.emplace_back("rope_attention_scaling", is_own ? "true" : "false");
  if (!is_own && !is_none)
    model.left_out.push_back({key, fmt::format("an attention factor of {:.4g}: MaxText scales by {:.4g} or, as taken here, "
                                               "not at all; it costs nothing", asked, own)});
}

/// Latent attention takes the defaults of MaxText's base.yml, which are DeepSeek's. Everyone else's classes turn halves of a
/// head against each other, not neighbouring features, round the range of corrected dims, and scale the embedding.
void add_yarn(Model& model, const char* key, const Json& rope) {
  for (const auto& [number, maxtext] : yarn_numbers)
    if (rope.contains(number) && rope[number].is_number())
      model.inner_values.emplace_back(maxtext, argument_text(rope[number]));
  if (model.attention_type != AttentionType::global) return;
  for (const auto& [number, usual] : yarn_defaults)
    if (!number_in(rope, number)) model.inner_values.emplace_back(number, usual);
  const bool truncates = !rope.contains("truncate") || rope["truncate"] != false;
  model.inner_values.emplace_back("rope_interleave", "false");
  model.inner_values.emplace_back("rope_truncate", truncates ? "true" : "false");
  add_attention_scaling(model, key, rope);
}

/// Of global and of local layers, where they have their own.
void add_bases(Model& model, const Json& rope) {
  constexpr std::pair<const char*, const char*> kinds[] = {{"full_attention", "rope_max_timescale"},
                                                           {"sliding_attention", "local_rope_max_timescale"}};
  for (const auto& [layers, maxtext] : kinds)
    if (rope.contains(layers) && rope[layers].is_object() && number_in(rope[layers], "rope_theta"))
      model.inner_values.emplace_back(maxtext, argument_text(rope[layers]["rope_theta"]));
}

bool knows_positions(const Model& model) {
  return std::any_of(model.inner_values.begin(), model.inner_values.end(),
                     [](const auto& value) { return value.first == "rope_type"; });
}

}  // namespace

Model with_llama3_positions(Model model, StrictObject& config) {
  const char* key = rope_key(config);
  if (!key || kind_of(config.peek(key)) != "llama3") return model;
  const Json& rope = config.any(key);
  model.interleaved_rotation = true;  // MaxText's rope_type llama3.1 turns neighbouring features
  model.inner_values.emplace_back("rope_type", "llama3.1");
  if (const std::string unlike = unlike_maxtext(rope); !unlike.empty())
    model.left_out.push_back({key, unlike + ": no argument of MaxText says it; its llama3.1 positions, which are taken, "
                                            "have their own; it costs nothing"});
  return model;
}

Model with_llama4_positions(Model model, StrictObject& config) {
  model = with_llama3_positions(std::move(model), config);
  const bool scaled = knows_positions(model);
  if (!scaled) {
    model.interleaved_rotation = true;
    model.inner_values.emplace_back("rope_type", "llama3.1");
    if (const char* key = rope_key(config); key && says_no_more(config.peek(key))) config.any(key);
  }
  model.inner_values.emplace_back("rope_use_scale", scaled ? "true" : "false");
  return model;
}

Model with_positions(Model model, StrictObject& config) {
  check_numbers(config);
  if (knows_positions(model)) return model;
  const char* key = rope_key(config);
  const Json rope = key ? of_global_layers(config.peek(key)) : Json::object();
  const std::string kind = kind_of(rope);
  model.inner_values.emplace_back("rope_type", kind == "yarn" ? "yarn" : "default");
  model.yarn_rotation = kind == "yarn" && model.attention_type == AttentionType::mla;
  if (kind == "yarn") {
    config.any(key);
    add_yarn(model, key, rope);
    return model;
  }
  const bool is_linear = kind == "linear" && number_in(rope, "factor").has_value();
  model.inner_values.emplace_back("rope_linear_scaling_factor", is_linear ? argument_text(rope["factor"]) : "1");
  if (key && (is_linear || (kind == "default" && says_no_more(rope)))) add_bases(model, config.any(key));
  return model;
}

}  // namespace shardplan::huggingface
