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

/// The changes, or none when all of them only repeat what holds anyway, as a copy of base.yml does.
ModelRules changes_in_force(const ModelRules& changes, const RuleSet& chosen, const Model& model);

std::vector<std::pair<std::string, std::string>> rules_as_arguments(const RuleSet& rules, const ModelRules& changes);

}  // namespace shardplan
