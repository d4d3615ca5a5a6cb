#include <formats/strict_json.hpp>
#include <limits>
#include <models/decoder_block.hpp>
#include <models/model_fields.hpp>
#include <models/model_file.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

int count_or(StrictObject& object, const std::string& key, int otherwise) {
  const std::int64_t value = object.integer_or(key, otherwise);
  if (value < 0 || value > std::numeric_limits<int>::max()) object.fail(key, "a small whole number");
  return static_cast<int>(value);
}

AttentionType read_attention_type(StrictObject& object) {
  const std::string name = object.text_or("attention_type", std::string(name_of(AttentionType::global)));
  std::vector<std::string> names;
  for (const AttentionType type : attention_types) {
    if (name == name_of(type)) return type;
    names.emplace_back(name_of(type));
  }
  throw InputError(object.where() + ": " + unknown_name("attention_type", name, names));
}

/// base.yml: mlp_activations: ["silu", "linear"]
std::vector<std::string> read_activations(StrictObject& object) {
  if (!object.has("mlp_activations")) return {"silu", "linear"};
  return object.texts("mlp_activations");
}

AttentionPattern read_attention_pattern(StrictObject& object, const DecoderBlock& block) {
  return {object.integer_or(std::string(window_key(block)), 0), count_or(object, "local_layers_per_global", 0)};
}

/// What no model with experts goes without: base.yml's defaults (none, one a token) are no model's.
void require_dims_of_experts(StrictObject& object, const Model& model) {
  if (!model.has_experts()) return;
  for (const char* key : {"moe_mlp", "top_k"}) object.integer(key);
}

std::vector<std::int64_t> read_list(StrictObject& object, const std::string& key) {
  std::vector<std::int64_t> numbers;
  if (!object.has(key)) return numbers;
  for (const auto& number : object.array(key)) {
    if (!number.is_number_unsigned()) object.fail(key, "a list of whole numbers from 0 on");
    numbers.push_back(number.get<std::int64_t>());
  }
  return numbers;
}

std::vector<std::pair<std::string, std::string>> read_run_arguments(StrictObject& object) {
  const nlohmann::json& words = object.any("run_arguments");
  if (!words.is_object()) object.fail("run_arguments", "an object of texts by MaxText's keys");
  std::vector<std::pair<std::string, std::string>> arguments;
  for (const auto& [key, value] : words.items()) {
    if (!value.is_string()) object.fail("run_arguments", "an object of texts by MaxText's keys");
    arguments.emplace_back(object.checked("run_arguments", key), object.checked("run_arguments", value.get<std::string>()));
  }
  return arguments;
}

/// ["norm", ["fsdp"]]
Rule read_rule(const nlohmann::json& pair, const StrictObject& rules) {
  constexpr auto expected = "a list of [\"logical axis\", [\"mesh axis\", …]]";
  if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_array())
    rules.fail("rules", expected);
  Rule rule{rules.checked("rules", pair[0].get<std::string>()), {}};
  for (const auto& axis : pair[1]) {
    if (!axis.is_string()) rules.fail("rules", expected);
    rule.axes.push_back(rules.checked("rules", axis.get<std::string>()));
  }
  return rule;
}

ModelRules read_model_rules(StrictObject object) {
  ModelRules rules;
  rules.override_rules = object.flag("override_rules");
  if (object.has("mesh_axes")) rules.mesh_axes = object.texts("mesh_axes");
  if (object.has("data_sharding")) rules.data_sharding = object.texts("data_sharding");
  for (const auto& pair : object.array("rules")) rules.rules.push_back(read_rule(pair, object));
  object.finish();
  return rules;
}

}  // namespace

Model read_model_file(const nlohmann::json& json, const std::string& place) {
  StrictObject object(json, place);
  object.text_or("$schema", "");  // for editors
  object.text("source");  // for the reader of the file; nothing is computed from it
  Model model;
  model.name = object.text("name");
  model.decoder_block = find_decoder_block(object.text("decoder_block"), place);
  for (const auto& [key, member] : required_model_dims) model.*member = object.integer(key);
  for (const auto& [key, member] : optional_model_dims) model.*member = object.integer_or(key, model.*member);
  require_dims_of_experts(object, model);
  for (const auto& [key, member] : model_counts) model.*member = count_or(object, key, model.*member);
  for (const auto& [key, member] : model_lists) model.*member = read_list(object, key);
  for (const auto& [key, member] : model_flags) model.*member = object.flag_or(key, model.*member);
  model.mlp_activations = read_activations(object);
  model.attention_type = read_attention_type(object);
  model.attention_pattern = read_attention_pattern(object, model.decoder_block);
  model.capacity_factor = object.number_or("capacity_factor", model.capacity_factor);
  if (object.has("model_rules")) model.rules = read_model_rules(object.object("model_rules"));
  if (object.has("opt_type")) model.opt_type = object.text("opt_type");
  if (object.has("attention")) model.attention = object.text("attention");
  if (object.has("use_iota_embed")) model.use_iota_embed = object.flag("use_iota_embed");
  model.not_modelled = object.text_or("not_modelled", "");
  model.note = object.text_or("note", "");
  model.unknown_to_maxtext = object.text_or("unknown_to_maxtext", "");
  if (object.has("run_arguments")) model.run_arguments = read_run_arguments(object);
  model.memory_error_high = object.number_or("memory_error_high", 0);
  if (model.memory_error_high < 0) object.fail("memory_error_high", "at least 0");
  if (model.memory_error_high > 0) model.memory_error_source = object.text("memory_error_source");
  object.finish();
  return model;
}

}  // namespace shardplan
