#include <fmt/format.h>

#include <models/load_model.hpp>
#include <models/model_overrides.hpp>
#include <arguments/argument_precedence.hpp>
#include <arguments/keys/argument_table.hpp>
#include <arguments/argument_values.hpp>
#include <arguments/model_arguments.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

Model named_model(const GivenArguments& arguments) {
  const std::string name = arguments.text("model_name", "");
  if (name.empty() || name == "default") throw InputError("which model? give model_name=NAME");
  Model model = load_model(name);
  if (!model.not_modelled.empty())
    throw InputError(fmt::format("model_name={}: shardplan does not model {} yet", name, model.not_modelled));
  return model;
}

bool sets(const ModelDimArgument& row, const Model& model) {
  return row.in_every_model || row.of(model) != row.base_default;
}

std::vector<ModelOverride> read_overrides(const GivenArguments& arguments, const Model& model) {
  std::vector<ModelOverride> overrides;
  for (const auto& row : model_dim_arguments()) {
    const std::string key(row.key);
    const auto* given = arguments.find(key);
    if (!given) continue;
    const std::int64_t value = parse_integer(given->value, given->place);
    const ModelsWord word{model.name, key, fmt::to_string(row.of(model)), fmt::to_string(row.base_default),
                          sets(row, model)};
    const bool repeats_base = given->in_file && value == row.base_default;
    if (!repeats_base && overrides_model(*given, word, arguments)) overrides.emplace_back(key, value);
  }
  return overrides;
}

void check_architecture(const GivenArguments& arguments, const Model& model) {
  for (const auto& row : architecture_arguments()) {
    const auto* given = arguments.find(std::string(row.key));
    const std::string own = row.of(model);
    if (!given || canonical(given->value) == canonical(own)) continue;
    if (given->in_file && canonical(given->value) == canonical(row.base_default)) continue;
    throw InputError(fmt::format("{}: {} says {}; shardplan changes a model's layers only through a model file",
                                 given->place, model.name, own));
  }
}

}  // namespace

ChosenModel read_model(const GivenArguments& arguments) {
  ChosenModel chosen{named_model(arguments), {}};
  check_architecture(arguments, chosen.model);
  chosen.overrides = read_overrides(arguments, chosen.model);
  chosen.model = with_overrides(std::move(chosen.model), chosen.overrides);
  return chosen;
}

}  // namespace shardplan
