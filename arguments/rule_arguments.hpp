#pragma once
// custom_mesh_and_rule and the keys that change the rules for one run, from arguments and from the run's YAML file.
#include <arguments/given_arguments.hpp>
#include <shardplan/model.hpp>
#include <shardplan/sharding.hpp>
#include <string>
#include <utility>
#include <vector>

namespace shardplan {

/// What the arguments change in the model's rules; the command line's changes come after the file's. Empty when all of
/// them only repeat what holds anyway, as a copy of base.yml does.
ModelRules read_rule_changes(const GivenArguments& arguments, const Model& model);

/// The rules in force, edited for pipelining when `pipelining`. Throws InputError on an unknown set.
RuleSet read_rules(const GivenArguments& arguments, const Model& model, const ModelRules& changes, bool pipelining);

std::vector<std::pair<std::string, std::string>> rules_as_arguments(const RuleSet& rules, const ModelRules& changes);

}  // namespace shardplan
