#pragma once
// The rule list in force, as MaxText's configuration builds it (configs/pyconfig.py and configs/types.py of e591f30cb):
//   rules = base.yml, or the list of a run's YAML file over it; merge or override by the model's yml; merge or override by
//   the command line, which beside rules of the model's yml needs override_model_config=true and then leaves those out
//   custom_mesh_and_rule replaces everything, the model's and the command line's rules included
//   pipelining edits the result; layers outside the pipeline use another edit of it
#include <shardplan/model.hpp>
#include <shardplan/mesh/sharding.hpp>

namespace shardplan {

/// MaxText's merge: every old rule whose name occurs among the new ones goes, the new ones come last (so their priority
/// drops). With override_rules the new list replaces the old one, even when it is empty: MaxText then shards nothing by
/// rule. Mesh axes and data_sharding are replaced where given.
RuleSet merge_rules(RuleSet rules, const ModelRules& changes);

/// The rules in force for a run without pipelining: a custom set as it is; else `chosen`, changed by the model, then by
/// the user (logical_axis_rules on the command line; arguments/rule_arguments.hpp says what a --config is to it).
RuleSet active_rules(const RuleSet& chosen, const ModelRules& model, const ModelRules& user = {});

/// What more than one pipeline stage changes: `stage` before `data` in the mesh, first in data_sharding, and the first
/// rule activation_embed_and_logits_batch becomes stage·data·fsdp·fsdp_transpose·expert whatever the set said.
/// Throws InputError when the mesh has `stage` but no `data` (MaxText fails on that too).
RuleSet pipelined(RuleSet rules);

/// The rules of layers outside the pipeline, where stages act as data parallelism: `stage` goes from every rule and
/// comes back just before `data` wherever a rule has `data`.
RuleSet rules_outside_pipeline(RuleSet rules);

}  // namespace shardplan
