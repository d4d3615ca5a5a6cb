#pragma once
// What the commands that are printed repeat of a request although no cost depends on it.
#include <arguments/words/given_arguments.hpp>
#include <shardplan/configuration.hpp>

namespace shardplan {

/// Of the words of a command line: constants of optimizer and layers, tiles and variants of kernels (the topics with
/// `in_commands`, arguments/keys), use_tokamax_splash and override_model_config. In order of keys, as they were written.
/// Not what a YAML file says.
PassedArguments passed_arguments(const GivenArguments& arguments);

/// A value that the model's file carries (Model::inner_values) and the command line too is the command line's: it takes the
/// other's place there, and is no longer among `passed`.
void settle_inner_values(Model& model, PassedArguments& passed);

}  // namespace shardplan
