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

/// With the dims, switches and layers that arguments change. Throws InputError when one contradicts the model, and
/// override_model_config doesn't say that it may.
ChosenModel changed_model(Model model, const GivenArguments& arguments);

}  // namespace shardplan
