#include <fmt/format.h>

#include <arguments/keys/argument_table.hpp>
#include <arguments/keys/model_files.hpp>
#include <arguments/model_words/model_yaml.hpp>
#include <arguments/model_words/nearest_model.hpp>
#include <models/model_overrides.hpp>

namespace shardplan {
namespace {

std::string heading(const Model& model, const std::string& name) {
  return fmt::format(
      "# {0}, as a model file of MaxText, by shardplan.\n"
      "# MaxText takes only model names that it knows. {1} is the nearest: put this file at models/{1}.yml beside a YAML\n"
      "# file of your own (one line does, base_config: base.yml), and start it with that file:\n"
      "#   python3 -m maxtext.trainers.pre_train.train YOURS.yml model_name={1} ...\n"
      "# MaxText looks there first; what stands here then needs no base_* word and no override_model_config. What its code\n"
      "# decides by model name, it decides as for {1}.\n",
      model.name, name);
}

/// A file of shardplan's has dims alone.
constexpr auto no_inner_values =
    "# Values inside layers (rope_max_timescale, normalization_layer_epsilon, ...) are not known: those below, of a model\n"
    "# of MaxText's, and else MaxText's defaults hold unless others are put in.\n";

std::string yaml_value(const ArchitectureArgument& row, const Model& model) {
  const std::string value = row.of(model);
  return row.key == activations_key ? "[" + value + "]" : value;
}

constexpr std::string_view several_lines = "[...]";

/// A list of numbers or words has lost its brackets.
std::string as_yaml(const std::string& value) {
  const bool is_list = value.find(',') != std::string::npos && !value.starts_with('[');
  return is_list ? "[" + value + "]" : value.starts_with('<') ? "'" + value + "'" : value;
}

}  // namespace

std::string model_yaml(const Model& model) {
  const std::string nearest = words_for(model).name;
  auto shadowed = values_in_model_file(nearest);  // what its own file says goes with it
  std::string text = heading(model, nearest);
  const auto add = [&](const std::string& key, const std::string& value) {
    text += fmt::format("{}: {}\n", key, value);
    shadowed.erase(key);
  };
  if (model.inner_values.empty()) text += no_inner_values;
  for (const auto& row : model_dim_arguments()) {
    const bool is_said = row.in_every_model || row.of(model) != row.base_default || shadowed.contains(row.key);
    if (has_dim(model, row.key) && is_said) add(row.key, fmt::format("{}", row.of(model)));
  }
  for (const auto& row : architecture_arguments())
    if (row.key == "decoder_block" || row.of(model) != row.base_default || shadowed.contains(row.key))
      add(row.key, yaml_value(row, model));
  for (const auto& [key, value] : model.inner_values) add(key, value);
  if (!shadowed.empty()) text += fmt::format("# As MaxText's own file of {} has it:\n", nearest);
  for (const auto& [key, value] : shadowed)
    text += value == several_lines ? fmt::format("# {}: several lines, to be copied from there\n", key)
                                   : fmt::format("{}: {}\n", key, as_yaml(value));
  return text;
}

}  // namespace shardplan
