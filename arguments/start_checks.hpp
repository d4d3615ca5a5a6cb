#pragma once
// What MaxText checks when it starts of keys that change nothing in a step and are otherwise passed over; and what of such
// keys shardplan does not model beside some kernels, paths or meshes.
#include <arguments/words/given_arguments.hpp>
#include <shardplan/configuration.hpp>
#include <vector>

namespace shardplan {

/// What the arguments demand of the configuration that they are given for. Throws InputError on a malformed value.
std::vector<StartCondition> start_conditions(const GivenArguments& arguments);

/// Throws InputError on the first that the configuration breaks.
void check_start(const Configuration& configuration);

/// Likewise on those that say something of model and settings alone, before a search chooses the rest.
void check_settings(const GivenArguments& arguments, const Model& model, const TrainConfig& config);

}  // namespace shardplan
