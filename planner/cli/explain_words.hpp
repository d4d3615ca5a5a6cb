#pragma once
// The convenience flags of `explain` as the MaxText arguments that they stand for.
#include <optional>
#include <planner/cli/task.hpp>
#include <arguments/machine_arguments.hpp>
#include <string>

namespace shardplan {

/// As written; empty where a flag is not given.
struct ExplainFlags {
  std::optional<std::string> model, hardware, chips, slices, rules, mesh, config_file, program;
  Words key_values;
};

MachineChoice read_machine_choice(const ExplainFlags& flags);

/// --model is model_name, --rules custom_mesh_and_rule, --mesh the ici_* and dcn_* sizes of every axis that the rules
/// have: an axis that --mesh leaves out has size 1. Over several slices the first axis that they divide spans them.
/// Throws InputError on an axis that the rules don't have, and when no axis can span the slices.
Words explain_words(const ExplainFlags& flags);

}  // namespace shardplan
