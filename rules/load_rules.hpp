#pragma once
// Reads sharding rules in MaxText's own YAML form: a built-in set, a custom_mesh_and_rule file, a whole base.yml, or
// the few lines that a model's yml or a command line adds. The keys read are
//   mesh_axes: ['data', 'fsdp']
//   logical_axis_rules: [['embed', ['fsdp']], ['layers', 'stage'], ['kv', []]]
//   data_sharding: [['data', 'fsdp']]
//   context_sharding: 'context'    checked only: MaxText derives it from the rules
// Other top-level keys are left to MaxText, but one that looks like a misspelling of these is an error.
#include <shardplan/model.hpp>
#include <shardplan/mesh/sharding.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

/// The built-in sets, `default` first, then alphabetical.
std::vector<std::string> rule_set_names();

/// Those of them that MaxText ships and custom_mesh_and_rule may name; `ep-tp` is a reconstruction of a closed proposal.
std::vector<std::string> published_rule_set_names();

/// Whether MaxText knows a set by this name; it does not know files.
bool is_published(const RuleSet& rules);

/// The text of a built-in set. Throws InputError on an unknown name.
std::string rules_yaml(std::string_view name);

/// A built-in set by name, or a file. Throws InputError that says file, line and what was expected.
RuleSet load_rules(const std::string& name_or_path);

/// As load_rules, from text; `file` names it in errors and in the result.
/// `custom` is set when the text has no keys but the four above, which is the form of a custom_mesh_and_rule file; a
/// base.yml is not custom, so that a model's own rules still merge into it. Without mesh_axes the default set's mesh
/// axes and data_sharding hold; with mesh_axes but no data_sharding the batch is laid out over all of them (but
/// diloco), as in every set that MaxText ships.
RuleSet parse_rules(std::string_view yaml, const std::string& file);

/// What a configuration file (a model's yml) changes in the rules: logical_axis_rules, mesh_axes,
/// data_sharding and override_logical_axis_rules, each empty (false) where the file does not have it.
ModelRules parse_rule_changes(std::string_view yaml, const std::string& file);

}  // namespace shardplan
