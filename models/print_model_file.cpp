#include <formats/print_json.hpp>
#include <models/model_fields.hpp>
#include <models/print_model_file.hpp>
#include <nlohmann/json.hpp>

namespace shardplan {
namespace {

using Json = nlohmann::ordered_json;

Json printed_rules(const ModelRules& rules) {
  Json json = {{"override_rules", rules.override_rules}};
  if (!rules.mesh_axes.empty()) json["mesh_axes"] = rules.mesh_axes;
  if (!rules.data_sharding.empty()) json["data_sharding"] = rules.data_sharding;
  json["rules"] = Json::array();
  for (const auto& [logical, axes] : rules.rules) json["rules"].push_back(Json::array({logical, axes}));
  return json;
}

template <class Fields>
void add_changed(Json& json, const Model& model, const Fields& fields) {
  const Model standard;
  for (const auto& [key, member] : fields)
    if (model.*member != standard.*member) json[key] = model.*member;
}

void add_attention(Json& json, const Model& model) {
  if (model.attention_type != AttentionType::global) json["attention_type"] = name_of(model.attention_type);
  if (model.attention_pattern.window != 0)
    json[std::string(window_key(model.decoder_block))] = model.attention_pattern.window;
  if (model.attention_pattern.locals_per_period != 0)
    json["local_layers_per_global"] = model.attention_pattern.locals_per_period;
}

}  // namespace

std::string print_model_file(const Model& model, const std::string& source) {
  Json json = {{"source", source}, {"name", model.name}, {"decoder_block", model.decoder_block.name}};
  for (const auto& [key, member] : required_model_dims) json[key] = model.*member;
  add_changed(json, model, optional_model_dims);
  if (model.has_experts()) json["top_k"] = model.top_k;  // which a file has to say
  add_changed(json, model, model_counts);
  add_changed(json, model, model_lists);
  add_changed(json, model, model_flags);
  json["mlp_activations"] = model.mlp_activations;
  add_attention(json, model);
  if (model.capacity_factor != Model{}.capacity_factor) json["capacity_factor"] = model.capacity_factor;
  if (model.rules != ModelRules{}) json["model_rules"] = printed_rules(model.rules);
  if (model.opt_type) json["opt_type"] = *model.opt_type;
  if (model.attention) json["attention"] = *model.attention;
  if (model.use_iota_embed) json["use_iota_embed"] = *model.use_iota_embed;
  if (!model.not_modelled.empty()) json["not_modelled"] = model.not_modelled;
  for (const auto& [key, value] : model.run_arguments) json["run_arguments"][key] = value;
  if (!model.unknown_to_maxtext.empty()) json["unknown_to_maxtext"] = model.unknown_to_maxtext;
  if (!model.note.empty()) json["note"] = model.note;
  if (model.memory_error_high > 0) {
    json["memory_error_high"] = model.memory_error_high;
    json["memory_error_source"] = model.memory_error_source;
  }
  return print_json(json, 2) + "\n";
}

}  // namespace shardplan
