#pragma once
// model_name and the dims that are changed for one run.
#include <shardplan/configuration.hpp>
#include <arguments/words/given_arguments.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace shardplan {

struct ChosenModel {
  Model model;  ///< overrides applied
  std::vector<ModelOverride> overrides;
};

/// The model that model_name names, as its file has it. Throws InputError when none is named, it is unknown or has a layer
/// that is not modelled.
Model named_model(const std::string& name);

/// Whether an argument of the dim makes another model, or none: not so of what no layer of it reads, nor of base.yml's
/// default, which holds anyway, of a dim that it doesn't have.
bool changes_model(const Model& model, const std::string& key, std::int64_t value);

/// Throws InputError when an argument contradicts the model.
ChosenModel changed_model(Model model, const GivenArguments& arguments);

}  // namespace shardplan
