#include <models/parameter_count.hpp>
#include <planner/report/json/json_catalog.hpp>
#include <planner/report/json/json_values.hpp>
#include <planner/report/profile_figures.hpp>

namespace shardplan {
namespace {

OrderedJson json_document(const char* key, OrderedJson value) {
  return {{"schema_version", schema_version}, {key, std::move(value)}};
}

OrderedJson json_figures(const HardwareProfile& machine) {
  OrderedJson figures = OrderedJson::object();
  for (const auto& [key, figure, printed] : figures_of(machine))
    figures[std::string(key)] = {{"value", json_number(printed, key)},
                                 {"unit", figure.unit},
                                 {"source", figure.source},
                                 {"basis", name_of(figure.basis)}};
  return figures;
}

OrderedJson json_slices(const std::vector<Slice>& slices) {
  OrderedJson all = OrderedJson::array();
  for (const auto& slice : slices)
    all.push_back({{"name", slice.name},
                   {"chips", slice.chips},
                   {"devices", slice.devices},
                   {"torus", slice.torus},
                   {"wraps", slice.wraps}});
  return all;
}

OrderedJson json_profile(const CatalogMachine& entry) {
  const HardwareProfile& machine = entry.profile;
  return {{"name", machine.name},
          {"description", machine.description},
          {"fabric", name_of(machine.fabric)},
          {"devices_per_chip", machine.devices_per_chip},
          {"chips_per_node", machine.chips_per_node},
          {"compiler", entry.compiler.family},
          {"figures", json_figures(machine)}};
}

// What can't be counted (a layer that is not modelled) is null.
OrderedJson json_model_row(const Model& model) {
  const bool known = model.not_modelled.empty();
  return {{"name", model.name},
          {"decoder_block", model.decoder_block.name},
          {"layers", model.layers},
          {"num_experts", model.num_experts},
          {"parameters", known ? OrderedJson(parameters(model)) : OrderedJson(nullptr)},
          {"active_parameters", known ? OrderedJson(active_parameters(model)) : OrderedJson(nullptr)},
          {"not_modelled", model.not_modelled},
          {"note", model.note}};
}

OrderedJson json_rule_row(const RuleSet& set) {
  return {{"name", set.name},
          {"mesh_axes", set.mesh_axes},
          {"data_sharding", set.data_sharding},
          {"rule_count", set.rules.size()}};
}

}  // namespace

std::string hardware_list_json(const std::vector<CatalogMachine>& machines) {
  OrderedJson all = OrderedJson::array();
  for (const auto& machine : machines) all.push_back(json_profile(machine));
  return print_document(json_document("hardware", std::move(all)));
}

std::string hardware_json(const CatalogMachine& machine) {
  OrderedJson value = json_profile(machine);
  value["slices"] = json_slices(machine.profile.slices);
  return print_document(json_document("hardware", std::move(value)));
}

std::string model_list_json(const std::vector<Model>& models) {
  OrderedJson all = OrderedJson::array();
  for (const auto& model : models) all.push_back(json_model_row(model));
  return print_document(json_document("models", std::move(all)));
}

std::string model_show_json(const Model& model) {
  OrderedJson value = json_model_row(model);
  for (const auto& [key, count] : std::initializer_list<std::pair<const char*, std::int64_t>>{
           {"emb", model.emb},
           {"q_heads", model.q_heads},
           {"kv_heads", model.kv_heads},
           {"head_dim", model.head_dim},
           {"mlp", model.mlp},
           {"moe_mlp", model.moe_mlp},
           {"vocab", model.vocab},
           {"top_k", model.top_k},
           {"shared_experts", model.shared_experts},
           {"first_dense_layers", model.first_dense_layers},
           {"interleave_moe_step", model.interleave_moe_step},
           {"moe_layers", model.moe_layers()},
           {"q_lora_rank", model.q_lora_rank},
           {"kv_lora_rank", model.kv_lora_rank},
           {"qk_nope_head_dim", model.qk_nope_head_dim},
           {"qk_rope_head_dim", model.qk_rope_head_dim},
           {"v_head_dim", model.v_head_dim},
           {"attention_window", model.attention_pattern.window}})
    value[key] = count;
  value["attention_type"] = name_of(model.attention_type);
  value["mlp_activations"] = model.mlp_activations;
  value["tied_embedding"] = model.tied_embedding;
  return print_document(json_document("model", std::move(value)));
}

std::string rule_list_json(const std::vector<RuleSet>& sets) {
  OrderedJson all = OrderedJson::array();
  for (const auto& set : sets) all.push_back(json_rule_row(set));
  return print_document(json_document("rules", std::move(all)));
}

std::string rules_json(const RuleSet& rules) {
  OrderedJson value = json_rule_row(rules);
  value["logical_axis_rules"] = OrderedJson::array();
  for (const auto& [logical, axes] : rules.rules)
    value["logical_axis_rules"].push_back(OrderedJson::array({logical, axes}));
  return print_document(json_document("rules", std::move(value)));
}

std::string spec_json(const PartitionSpec& spec, const Mesh& mesh) {
  OrderedJson dims = OrderedJson::array();
  for (const auto& axes : spec.dims) dims.push_back(names_of(axes, mesh));
  return print_document(json_document("spec", std::move(dims)));
}

}  // namespace shardplan
