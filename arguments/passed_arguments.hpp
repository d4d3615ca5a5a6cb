#pragma once
// What the commands that are printed repeat of a request although no cost depends on it.
#include <arguments/words/given_arguments.hpp>
#include <shardplan/configuration.hpp>

namespace shardplan {

/// Of the words of a command line: names, paths and data, constants of optimizer and layers, tiles and variants of kernels
/// (what has `in_commands`, arguments/keys), and dims that no layer of the model reads. In order of keys, as they were
/// written. Of a YAML file those with `in_commands` that differ from base.yml's and that the model's file doesn't set. A
/// value that the model's file carries too (Model::inner_values) takes the other's place there instead.
PassedArguments take_passed_arguments(const GivenArguments& arguments, Model& model);

}  // namespace shardplan
