#pragma once
// custom_mesh_and_rule and the keys that change the rules for one run, from arguments and from the run's YAML file.
#include <arguments/words/given_arguments.hpp>
#include <shardplan/model.hpp>
#include <shardplan/mesh/sharding.hpp>
#include <string>
#include <utility>
#include <vector>

namespace shardplan {

/// The set that custom_mesh_and_rule names, as it comes. Throws InputError on an unknown one.
RuleSet chosen_rules(const GivenArguments& arguments);

/// What the arguments change in `chosen` with the model's own rules; none when they only repeat what holds anyway, as a copy
/// of base.yml does. A list of rules in the run's YAML file replaces base.yml's, under the model's: then these are all the
/// rules in force, as a command line without the file would say them. Throws InputError where the command line contradicts
/// rules of the model's own file without override_model_config, as MaxText does.
ModelRules changes_in_force(const GivenArguments& arguments, const RuleSet& chosen, const Model& model);

/// The set by its name (a file's is its path), and what changes it.
std::vector<std::pair<std::string, std::string>> rules_as_arguments(const RuleSet& rules, const ModelRules& changes);

/// As MaxText reads them: custom_mesh_and_rule is an enum there (common/common_types.py, CustomRule), so a set of anybody
/// else's is written out, in place of base.yml's and the model's. So is one whose mesh lacks the sequence's axis, with that
/// axis, where the run looks for it: a set by name brings its own mesh.
std::vector<std::pair<std::string, std::string>> rules_to_run(const RuleSet& rules, const ModelRules& changes,
                                                              bool looks_for_sequence_axis);

}  // namespace shardplan
