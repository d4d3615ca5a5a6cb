#include <algorithm>
#include <models/huggingface/notes.hpp>
#include <models/huggingface/positions.hpp>
#include <nlohmann/json.hpp>
#include <string_view>

namespace shardplan::huggingface {

namespace {

constexpr const char* keys[] = {"rope_scaling", "rope_parameters"};

/// Hugging Face's numbers of YaRN under MaxText's names (configs/base.yml).
constexpr std::pair<const char*, const char*> yarn_numbers[] = {
    {"factor", "rope_factor"}, {"original_max_position_embeddings", "original_max_position_embeddings"},
    {"beta_fast", "beta_fast"}, {"beta_slow", "beta_slow"}, {"mscale", "mscale"}};

/// The key that says how positions are scaled.
const char* rope_key(StrictObject& config) {
  const auto* found = std::find_if(std::begin(keys), std::end(keys),
                                   [&](const char* key) { return config.has(key) && config.peek(key).is_object(); });
  return found == std::end(keys) ? nullptr : *found;
}

/// "rope_type", "type" in older files; "default" where nothing is said.
std::string kind_of(const nlohmann::json& rope) {
  for (const char* key : {"rope_type", "type"})
    if (rope.contains(key) && rope[key].is_string()) return rope[key].get<std::string>();
  return "default";
}

}  // namespace

bool has_llama3_positions(StrictObject& config) {
  const char* key = rope_key(config);
  if (!key || kind_of(config.peek(key)) != "llama3") return false;
  config.any(key);
  return true;
}

Model with_positions(Model model, StrictObject& config) {
  const bool is_known = std::any_of(model.inner_values.begin(), model.inner_values.end(),
                                    [](const auto& value) { return value.first == "rope_type"; });
  if (is_known) return model;
  const char* key = rope_key(config);
  const bool is_yarn = key && kind_of(config.peek(key)) == "yarn";
  model.inner_values.emplace_back("rope_type", is_yarn ? "yarn" : "default");
  if (!is_yarn) return model;
  const auto& rope = config.any(key);
  for (const auto& [number, maxtext] : yarn_numbers)
    if (rope.contains(number) && rope[number].is_number())
      model.inner_values.emplace_back(maxtext, argument_text(rope[number]));
  return model;
}

}  // namespace shardplan::huggingface
