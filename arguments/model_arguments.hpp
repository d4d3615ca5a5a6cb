#pragma once
// model_name and the dims that are changed for one run.
#include <shardplan/configuration.hpp>
#include <arguments/given_arguments.hpp>
#include <vector>

namespace shardplan {

struct ChosenModel {
  Model model;  ///< overrides applied
  std::vector<ModelOverride> overrides;
};

/// Throws InputError when no model is named, it is unknown or has a layer that is not modelled, or an argument
/// contradicts it.
ChosenModel read_model(const GivenArguments& arguments);

}  // namespace shardplan
